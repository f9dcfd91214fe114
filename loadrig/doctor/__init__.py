"""What can be measured at an endpoint: a dozen small requests, each looked at from outside, and what they mean.

`examine.examine` sends and collects; `judging`, `abilities`, `listening`, `arrivals` and `manners` are pure. Nothing
that the endpoint does is raised: every check ends ok, not there, cannot tell or broken.
"""
