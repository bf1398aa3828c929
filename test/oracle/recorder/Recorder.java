import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/**
 * Runs scripts against a real HBase and writes its answers into them. A script is text: "== name" begins a section, which
 * has a table of its own; "#" begins a comment; a line that begins with a tab is an answer to the command above it, and is
 * replaced; one that begins with "~" is about Cellar, and stays; one that begins with
 * "never" is not for HBase, which would not come to an end. docs/internals/oracle.md lists the commands.
 */
public final class Recorder {
  private static final int STARTS_WITHIN_SECONDS = 120;
  private static final int ANSWERS_WITHIN_MS = 20_000;

  public static void main(String[] files) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setInt("hbase.client.retries.number", 1);
    conf.setInt("hbase.client.pause", 50);
    conf.setInt("hbase.rpc.timeout", ANSWERS_WITHIN_MS);
    conf.setInt("hbase.client.operation.timeout", ANSWERS_WITHIN_MS);
    conf.setInt("hbase.client.scanner.timeout.period", ANSWERS_WITHIN_MS);
    try (Connection connection = ready(conf)) {
      int commands = 0;
      for (String file : files) {
        commands += record(connection, Path.of(file));
      }
      System.err.println(files.length + " scripts, " + commands + " commands");
    }
  }

  /** Waits until the master answers and the tables of its own are there. */
  private static Connection ready(Configuration conf) throws Exception {
    long end = System.currentTimeMillis() + 1000L * STARTS_WITHIN_SECONDS;
    for (;;) {
      Connection c = ConnectionFactory.createConnection(conf);
      try {
        if (c.getAdmin().listNamespaceDescriptors().length >= 2
            && c.getAdmin().isTableAvailable(TableName.META_TABLE_NAME)) {
          System.err.println("HBase " + c.getAdmin().getClusterMetrics().getHBaseVersion());
          return c;
        }
      } catch (java.io.IOException e) {
        if (System.currentTimeMillis() > end) {
          throw e;
        }
      }
      c.close();
      Thread.sleep(300);
    }
  }

  private static int record(Connection connection, Path file) throws Exception {
    List<String> out = new ArrayList<>();
    Section section = null;
    int commands = 0;
    for (String line : Files.readAllLines(file, StandardCharsets.US_ASCII)) {
      if (line.startsWith("\t")) {
        continue;
      }
      out.add(line);
      if (line.startsWith("== ")) {
        if (section != null) {
          section.close();
        }
        section = new Section(connection);
      } else if (!line.isBlank() && !line.startsWith("#") && !line.startsWith("~") && !line.startsWith("never ")) {
        if (section == null) {
          throw new Fault(file + ": a command before the first section: " + line);
        }
        commands++;
        try {
          for (String answer : section.run(line)) {
            out.add("\t" + answer);
          }
        } catch (Fault e) {
          throw new IllegalStateException(file + ": " + line, e);
        }
      }
    }
    if (section != null) {
      section.close();
    }
    Files.write(file, out, StandardCharsets.US_ASCII);
    System.err.println(file + ": " + commands + " commands");
    return commands;
  }
}
