"""The fleet: workers, inline or on Ray, and the driver that leases them trials and writes what comes back."""
