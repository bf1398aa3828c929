"""What a check is, and how its outcome is told.

A check is a name, a call and the wanted outcome. One line is printed for each:

    ok   NAME
    FAIL NAME: got ..., want ...

The wanted outcomes are what a real HBase Thrift 1 gateway (1.4.13) answers;
every check can be run against one (--real). Where Cellar differs on purpose,
the check gives both outcomes.
"""
import socket

import happybase
import Hbase_thrift as thrift  # happybase registers the service's types under this name
from thriftpy2.thrift import TApplicationException
from thriftpy2.transport import TTransportException

IOError_ = thrift.IOError
IllegalArgument = thrift.IllegalArgument
AlreadyExists = thrift.AlreadyExists
ANSWERS = (IOError_, IllegalArgument, AlreadyExists, TApplicationException)
SAME = object()


class Raises:
    """Wants the declared exception, with all the texts in its message."""

    def __init__(self, kind, *texts):
        self.kind, self.texts = kind, texts

    def holds(self, outcome):
        if type(outcome) is not self.kind:
            return False
        return all(text in message(outcome) for text in self.texts)

    def __repr__(self):
        return '%s with %s' % (self.kind.__name__, ' and '.join(map(repr, self.texts)) or 'any text')


class Closed:
    """Wants the connection closed without an answer."""

    def holds(self, outcome):
        return isinstance(outcome, (TTransportException, ConnectionError))

    def __repr__(self):
        return 'the connection closed'


class That:
    """Wants an answer for which a function is true; the text says what that means."""

    def __init__(self, text, function):
        self.text, self.function = text, function

    def holds(self, outcome):
        return not isinstance(outcome, Exception) and bool(self.function(outcome))

    def __repr__(self):
        return self.text


class Skip:
    """The real gateway is not asked, for the reason given."""

    def __init__(self, why):
        self.why = why


def message(error):
    text = getattr(error, 'message', None)
    if text is None:
        text = str(error)
    return text if isinstance(text, bytes) else text.encode()


def brief(value, limit=600):
    if isinstance(value, Exception):
        text = '%s: %r' % (type(value).__name__, message(value))
    else:
        text = repr(value)
    return text if len(text) <= limit else text[:limit] + '...'


class Harness:
    def __init__(self, options):
        self.options = options
        self.real = options.real
        self.passed = self.failed = self.skipped = self.reopened = 0
        self.conn = self.connect()

    def connect(self, **more):
        """A new connection in the transport and protocol that this run is about."""
        settings = dict(host=self.options.host, port=self.options.port, timeout=30000,
                        transport=self.options.transport, protocol=self.options.protocol)
        settings.update(more)
        return happybase.Connection(**settings)

    @property
    def client(self):
        """The raw Thrift client of the connection that stands now."""
        return self.conn.client

    def name(self, suffix):
        """A table name of this run."""
        return '%s_%s' % (self.options.prefix, suffix)

    def raw(self, suffix):
        return self.name(suffix).encode()

    def make(self, suffix, families):
        self.conn.create_table(self.name(suffix), families)
        return self.conn.table(self.name(suffix))

    def table(self, suffix):
        return self.conn.table(self.name(suffix))

    def check(self, name, call, want, real=SAME):
        """Runs one check. `real` is what the real gateway does where that is not `want`."""
        if self.real and real is not SAME:
            if isinstance(real, Skip):
                self.skipped += 1
                print('skip %s: %s' % (name, real.why), flush=True)
                return
            want = real
        outcome = self._outcome(call)
        if self.options.answers:
            print('     %s -> %s' % (name, brief(outcome)), flush=True)
        if self._holds(outcome, want):
            self.passed += 1
            print('ok   %s' % name, flush=True)
        else:
            self.failed += 1
            print('FAIL %s: got %s, want %r' % (name, brief(outcome), want), flush=True)

    def _outcome(self, call):
        try:
            return call()
        except ANSWERS as error:
            return error
        except (TTransportException, OSError) as error:
            self._reopen()
            return error
        except Exception as error:  # a fault of the check, or an answer that cannot be decoded
            self._reopen()
            return error

    @staticmethod
    def _holds(outcome, want):
        if isinstance(want, (Raises, Closed, That)):
            return want.holds(outcome)
        return type(outcome) is type(want) and outcome == want

    def _reopen(self):
        """The connection is of no use any more: the next check gets a new one."""
        self.reopened += 1
        self.conn.close()
        try:
            self.conn._refresh_thrift_client()
            self.conn.open()
        except (TTransportException, OSError, socket.timeout) as error:
            print('     cannot connect again: %r' % error, flush=True)

    def clean(self):
        """Removes the tables of this run."""
        for name in self.conn.tables():
            if name.startswith(self.options.prefix.encode()):
                self.conn.delete_table(name, disable=True)
