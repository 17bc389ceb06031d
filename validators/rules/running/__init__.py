"""Rules on what switches run: by the intent of a fabric, or by what most of them have."""
