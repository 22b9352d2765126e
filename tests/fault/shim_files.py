"""What the scripts of test_shim.py use while libfault.so is preloaded into their interpreter."""
import ctypes
import os
import threading  # noqa: F401 (the scripts use it)

KINDS = ["open", "create", "write", "sync", "range", "truncate", "allocate", "rename", "unlink", "mkdir", "link",
         "close", "read"]
ROOT = os.environ["FAULT_ROOT"]
libc = ctypes.CDLL(None, use_errno=True)


class Api(ctypes.Structure):
    _fields_ = [
        ("count", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint)),
        ("injected", ctypes.CFUNCTYPE(ctypes.c_uint64)),
        ("fail_from_now", ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_int)),
        ("clear", ctypes.CFUNCTYPE(None)),
        ("cut", ctypes.CFUNCTYPE(None)),
    ]


api = Api.in_dll(libc, "fault_api_table")


def bit(kind):
    return 1 << KINDS.index(kind)


def path(name):
    return os.path.join(ROOT, name)


def make(name, size=0):
    """A new file of `size` bytes that stays open."""
    fd = os.open(path(name), os.O_CREAT | os.O_RDWR, 0o644)
    if size:
        os.write(fd, b"x" * size)
    return fd


def save(name, size):
    """A file of `size` bytes that is synced, and closed."""
    fd = make(name, size)
    os.fsync(fd)
    os.close(fd)


def sync_directory(name="."):
    fd = os.open(path(name), os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
