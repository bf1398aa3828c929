"""Walks a Thrift 1 server through happybase, as its users do.

    happybase_check.py --port PORT [--transport framed] [--protocol compact]

Prints a line a check and at the end one with the counts:

    checks: 200 passed, 0 failed, 0 skipped

The exit status is 0 only when none failed. The tables that it makes begin with
the prefix and are removed before and after.
"""
import argparse
import sys

from checks import admin, compat, counters, deletes, filters, reads, scans, scanners, writes
from checks.harness import Harness

SUBJECTS = (admin, writes, reads, scans, filters, scanners, deletes, counters, compat)


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument('--host', default='127.0.0.1')
    p.add_argument('--port', type=int, required=True)
    p.add_argument('--transport', choices=('buffered', 'framed'), default='buffered')
    p.add_argument('--protocol', choices=('binary', 'compact'), default='binary')
    p.add_argument('--prefix', default='hbcheck', help='of the names of all tables that are made')
    p.add_argument('--real', action='store_true', help='the server is an HBase 1.4.13 gateway')
    p.add_argument('--answers', action='store_true', help='print every answer')
    p.add_argument('--only', help='one subject')
    return p.parse_args()


def main():
    options = arguments()
    h = Harness(options)
    h.clean()
    for subject in SUBJECTS:
        if options.only in (None, subject.__name__.split('.')[-1]):
            subject.run(h)
    h.clean()
    if not options.real and options.only is None:
        h.check('the connection was never lost', lambda: h.reopened, 0)
    print('checks: %d passed, %d failed, %d skipped' % (h.passed, h.failed, h.skipped), flush=True)
    return 1 if h.failed else 0


if __name__ == '__main__':
    sys.exit(main())
