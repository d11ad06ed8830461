"""python -m cbl1: the command."""
import os
import subprocess
import sys

from . import binary

if os.name == "nt":  # os.execv returns at once there
    sys.exit(subprocess.run([binary(), *sys.argv[1:]]).returncode)
os.execv(binary(), ["cbl1", *sys.argv[1:]])
