"""Every `display` that this driver reads, described once: readers and writers share it."""
