import java.io.ByteArrayOutputStream;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.exceptions.TimeoutIOException;
import org.apache.hadoop.ipc.RemoteException;

/** How scripts write bytes, cells and failures. The Go test has the same in text_test.go. */
final class Text {
  private Text() {}

  /** Bytes that have a meaning in scripts, and are written as %HH besides what is not printable. */
  private static final String SPECIAL = "%:@=/,() ";

  /** Timestamps of the server's own clock, in ms, differ from run to run: they are written as "now". */
  private static final long CLOCK_BEGINS = 1_600_000_000_000L;
  private static final long CLOCK_ENDS = 4_000_000_000_000L;

  /** Reads %HH; everything else stands for itself. */
  static byte[] bytes(String s) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c == '%') {
        out.write(Integer.parseInt(s.substring(i + 1, i + 3), 16));
        i += 2;
      } else if (c < 0x80) {
        out.write(c);
      } else {
        throw new IllegalArgumentException("not ASCII: " + s);
      }
    }
    return out.toByteArray();
  }

  static String text(byte[] bytes) {
    StringBuilder out = new StringBuilder();
    for (byte b : bytes) {
      char c = (char) (b & 0xff);
      if (c < '!' || c > '~' || SPECIAL.indexOf(c) >= 0) {
        out.append(String.format("%%%02X", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }

  /** row: family:qualifier@timestamp=value ...; markers have their type in place of a value. */
  static String result(Result r) {
    StringBuilder out = new StringBuilder(text(r.getRow())).append(':');
    for (Cell c : r.rawCells()) {
      out.append(' ').append(text(CellUtil.cloneFamily(c))).append(':').append(text(CellUtil.cloneQualifier(c)));
      out.append('@').append(timestamp(c.getTimestamp()));
      if (c.getType() == Cell.Type.Put) {
        out.append('=').append(text(CellUtil.cloneValue(c)));
      } else {
        out.append('/').append(c.getType());
      }
    }
    return out.toString();
  }

  static List<String> results(Iterable<Result> all) {
    List<String> lines = new ArrayList<>();
    for (Result r : all) {
      if (!r.isEmpty()) {
        lines.add(result(r));
      }
    }
    return lines;
  }

  private static String timestamp(long t) {
    return t > CLOCK_BEGINS && t < CLOCK_ENDS ? "now" : Long.toString(t);
  }

  /** The class of what failed, without what the client wraps around it. */
  static String failure(Throwable t) {
    Throwable cause = t;
    for (;;) {
      Throwable next = cause;
      if (cause instanceof RetriesExhaustedWithDetailsException d && d.getNumExceptions() > 0) {
        next = d.getCause(0);
      } else if (cause instanceof RetriesExhaustedException && cause.getCause() != null) {
        next = cause.getCause();
      } else if (cause instanceof RemoteException r) {
        next = r.unwrapRemoteException();
      }
      if (next == cause) {
        break;
      }
      cause = next;
    }
    if (cause instanceof InterruptedIOException || cause instanceof TimeoutIOException) {
      throw new Fault("HBase does not answer: " + cause);
    }
    String says = String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
    System.err.println("  " + cause.getClass().getName() + ": " + says);
    return "! " + cause.getClass().getSimpleName();
  }
}
