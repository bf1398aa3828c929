import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.ParseFilter;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.io.TimeRange;

/** One section of a script: its table, and the commands that are run on it. */
final class Section {
  private static final TableName NAME = TableName.valueOf("oracle");

  private final Connection connection;
  private final Admin admin;
  private Table table;

  Section(Connection connection) throws Exception {
    this.connection = connection;
    this.admin = connection.getAdmin();
  }

  void close() throws Exception {
    if (table != null) {
      table.close();
      drop();
    }
  }

  private void drop() throws Exception {
    if (admin.isTableEnabled(NAME)) {
      admin.disableTable(NAME);
    }
    admin.deleteTable(NAME);
  }

  /** Runs a command and gives the lines of its answer. */
  List<String> run(String line) throws Exception {
    String[] parts = line.split(" ", 2);
    String rest = parts.length > 1 ? parts[1] : "";
    if (table == null && !parts[0].equals("table")) {
      throw new Fault("no table yet");
    }
    try {
      switch (parts[0]) {
        case "table":
          if (admin.tableExists(NAME)) {
            drop(); // an earlier run broke off
          }
          create(rest);
          table = connection.getTable(NAME);
          return List.of();
        case "alter":
          admin.modifyTable(schema(rest));
          return List.of();
        case "flush":
          admin.flush(NAME);
          return List.of();
        case "compact":
          compact();
          return List.of();
        case "get":
          return Text.results(List.of(table.get(get(rest))));
        case "scan":
          return scan(rest);
        case "check":
          return check(rest);
        case "put":
        case "delete":
        case "increment":
        case "append":
        case "mutate":
          return write(parts[0], rest);
        default:
          throw new Fault("no such command");
      }
    } catch (Fault e) {
      throw e;
    } catch (Exception e) {
      return List.of(Text.failure(e));
    }
  }

  /** [splits=row,...] SCHEMA. */
  private void create(String text) throws Exception {
    if (!text.startsWith("splits=")) {
      admin.createTable(schema(text));
      return;
    }
    String[] parts = text.substring("splits=".length()).split(" ", 2);
    byte[][] splits = Stream.of(parts[0].split(",")).map(Text::bytes).toArray(byte[][]::new);
    admin.createTable(schema(parts[1]), splits);
  }

  /** family [SETTING=value ...] | family ... */
  private TableDescriptor schema(String text) {
    TableDescriptorBuilder t = TableDescriptorBuilder.newBuilder(NAME);
    for (String part : text.split("\\|")) {
      String[] words = part.trim().split(" ");
      ColumnFamilyDescriptorBuilder f = ColumnFamilyDescriptorBuilder.newBuilder(Text.bytes(words[0]));
      for (int i = 1; i < words.length; i++) {
        String[] setting = words[i].split("=");
        switch (setting[0]) {
          case "VERSIONS" -> f.setMaxVersions(Integer.parseInt(setting[1]));
          case "MIN_VERSIONS" -> f.setMinVersions(Integer.parseInt(setting[1]));
          case "TTL" -> f.setTimeToLive(Integer.parseInt(setting[1]));
          case "KEEP_DELETED_CELLS" -> f.setKeepDeletedCells(KeepDeletedCells.valueOf(setting[1]));
          default -> throw new Fault("no such setting: " + words[i]);
        }
      }
      t.setColumnFamily(f.build());
    }
    return t.build();
  }

  /** A major compaction, and the end of it: the time of the last one is seen to change. */
  private void compact() throws Exception {
    admin.flush(NAME);
    long before = lastMajorCompaction();
    admin.majorCompact(NAME);
    long end = System.currentTimeMillis() + 30_000;
    while (lastMajorCompaction() == before || admin.getCompactionState(NAME) != CompactionState.NONE) {
      if (System.currentTimeMillis() > end) {
        throw new Fault("the compaction does not end");
      }
      Thread.sleep(50);
    }
  }

  private long lastMajorCompaction() throws Exception {
    long newest = 0;
    for (ServerName server : admin.getRegionServers()) {
      for (RegionMetrics m : admin.getRegionMetrics(server, NAME)) {
        newest = Math.max(newest, m.getLastMajorCompactionTimestamp());
      }
    }
    return newest;
  }

  /** family:qualifier; without a colon the qualifier is null. */
  private static byte[][] column(String text) {
    String[] parts = text.split(":", 2);
    return new byte[][] {Text.bytes(parts[0]), parts.length > 1 ? Text.bytes(parts[1]) : null};
  }

  private static TimeRange range(String text) throws Exception {
    String[] bounds = text.split(",");
    return TimeRange.between(Long.parseLong(bounds[0]), Long.parseLong(bounds[1]));
  }

  /** A word of a command: name=value. */
  private record Option(String name, String value) {
    static Option of(String word) {
      int at = word.indexOf('=');
      return at < 0 ? new Option(word, null) : new Option(word.substring(0, at), word.substring(at + 1));
    }

    int number() {
      return value.equals("all") ? Integer.MAX_VALUE : Integer.parseInt(value);
    }
  }

  /** A command's options, and behind them its filter, if it has one. */
  private record Options(List<Option> options, Filter filter) {
    static Options of(String text) throws Exception {
      List<Option> options = new ArrayList<>();
      String rest = text;
      while (!rest.isEmpty()) {
        String[] parts = rest.split(" ", 2);
        rest = parts.length > 1 ? parts[1] : "";
        if (FILTER_KINDS.contains(parts[0])) {
          return new Options(options, Section.filter(parts[0], rest));
        }
        options.add(Option.of(parts[0]));
      }
      return new Options(options, null);
    }
  }

  /** The words that begin a filter; it ends the line. */
  private static final List<String> FILTER_KINDS = List.of("filter", "call", "regex");

  /**
   * filter TEXT in HBase's filter language; call Name(arguments); regex CHARSET FLAGS PATTERN, which values must hold.
   */
  private static Filter filter(String kind, String text) throws Exception {
    if (kind.equals("call")) {
      return Filters.parse(text);
    }
    if (kind.equals("regex")) {
      String[] parts = text.split(" ", 3);
      return new ValueFilter(CompareOperator.EQUAL, Filters.regex(parts[0], parts[1], Text.bytes(parts[2])));
    }
    return new ParseFilter().parseFilterString(Text.bytes(text));
  }

  private static Get get(String text) throws Exception {
    String[] parts = text.split(" ", 2);
    Get get = new Get(Text.bytes(parts[0]));
    Options o = Options.of(parts.length > 1 ? parts[1] : "");
    for (Option option : o.options()) {
      switch (option.name()) {
        case "column" -> {
          byte[][] c = column(option.value());
          if (c[1] == null) {
            get.addFamily(c[0]);
          } else {
            get.addColumn(c[0], c[1]);
          }
        }
        case "versions" -> get.readVersions(option.number());
        case "time" -> {
          TimeRange r = range(option.value());
          get.setTimeRange(r.getMin(), r.getMax());
        }
        case "familytime" -> {
          String[] f = option.value().split(",", 2);
          TimeRange r = range(f[1]);
          get.setColumnFamilyTimeRange(Text.bytes(f[0]), r.getMin(), r.getMax());
        }
        case "storelimit" -> get.setMaxResultsPerColumnFamily(option.number());
        case "storeoffset" -> get.setRowOffsetPerColumnFamily(option.number());
        case "keeps" -> { }
        default -> throw new Fault("no such option of get: " + option.name());
      }
    }
    return o.filter() == null ? get : get.setFilter(o.filter());
  }

  private List<String> scan(String text) throws Exception {
    Scan scan = new Scan();
    Options o = Options.of(text);
    for (Option option : o.options()) {
      option(scan, option);
    }
    if (o.filter() != null) {
      scan.setFilter(o.filter());
    }
    try (ResultScanner results = table.getScanner(scan)) {
      List<Result> all = new ArrayList<>();
      for (Result r = results.next(); r != null; r = results.next()) {
        all.add(r);
      }
      return Text.results(all);
    }
  }

  private static void option(Scan scan, Option option) throws Exception {
    switch (option.name()) {
      case "from" -> scan.withStartRow(Text.bytes(option.value()), true);
      case "after" -> scan.withStartRow(Text.bytes(option.value()), false);
      case "to" -> scan.withStopRow(Text.bytes(option.value()), false);
      case "through" -> scan.withStopRow(Text.bytes(option.value()), true);
      case "reversed" -> scan.setReversed(true);
      case "raw" -> scan.setRaw(true);
      case "limit" -> scan.setLimit(option.number());
      case "batch" -> scan.setBatch(option.number());
      case "eager" -> scan.setLoadColumnFamiliesOnDemand(false);
      case "caching" -> scan.setCaching(option.number());
      case "column" -> {
        byte[][] c = column(option.value());
        if (c[1] == null) {
          scan.addFamily(c[0]);
        } else {
          scan.addColumn(c[0], c[1]);
        }
      }
      case "versions" -> scan.readVersions(option.number());
      case "time" -> {
        TimeRange r = range(option.value());
        scan.setTimeRange(r.getMin(), r.getMax());
      }
      case "familytime" -> {
        String[] f = option.value().split(",", 2);
        TimeRange r = range(f[1]);
        scan.setColumnFamilyTimeRange(Text.bytes(f[0]), r.getMin(), r.getMax());
      }
      case "storelimit" -> scan.setMaxResultsPerColumnFamily(option.number());
      case "storeoffset" -> scan.setRowOffsetPerColumnFamily(option.number());
      case "keeps" -> { }
      default -> throw new Fault("no such option of scan: " + option.name());
    }
  }

  /** VERB ROW EDIT ...; mutate has a row and then edits as other verbs have them, with " ; " between. */
  private List<String> write(String verb, String text) throws Exception {
    String[] parts = text.split(" ", 2);
    byte[] row = Text.bytes(parts[0]);
    String edits = parts.length > 1 ? parts[1] : "";
    if (verb.equals("mutate")) {
      return answer(table.mutateRow(mutations(row, edits)));
    }
    Mutation m = mutation(row, (verb + " " + edits).trim());
    if (m instanceof Put p) {
      table.put(p);
    } else if (m instanceof Delete d) {
      table.delete(d);
    } else if (m instanceof Increment i) {
      return answer(table.increment(i));
    } else if (m instanceof Append a) {
      return answer(table.append(a));
    }
    return List.of();
  }

  private static List<String> answer(Result r) {
    return r == null ? List.of() : Text.results(List.of(r));
  }

  private static RowMutations mutations(byte[] row, String text) throws Exception {
    RowMutations all = new RowMutations(row);
    for (String m : text.split(" ; ")) {
      all.add(mutation(row, m));
    }
    return all;
  }

  private static Mutation mutation(byte[] row, String text) throws Exception {
    List<Option> edits =
        List.of(text.split(" ")).stream().skip(1).map(Option::of).collect(Collectors.toCollection(ArrayList::new));
    Mutation m = switch (text.split(" ")[0]) {
      case "put" -> new Put(row);
      case "delete" -> new Delete(row);
      case "increment" -> new Increment(row);
      case "append" -> new Append(row);
      default -> throw new Fault("no such mutation: " + text);
    };
    for (Option e : edits) {
      if (e.name().equals("ttl")) {
        m.setTTL(Long.parseLong(e.value()));
      } else {
        edit(m, e);
      }
    }
    return m;
  }

  private static void edit(Mutation m, Option e) throws Exception {
    String[] at = e.name().split("@");
    if (m instanceof Put p) {
      byte[][] c = column(at[0]);
      p.addColumn(c[0], c[1], Long.parseLong(at[1]), Text.bytes(e.value()));
    } else if (m instanceof Delete d) {
      delete(d, e);
    } else if (e.name().equals("time")) {
      TimeRange r = range(e.value());
      if (m instanceof Increment i) {
        i.setTimeRange(r.getMin(), r.getMax());
      } else {
        ((Append) m).setTimeRange(r.getMin(), r.getMax());
      }
    } else if (m instanceof Increment i) {
      byte[][] c = column(e.name());
      i.addColumn(c[0], c[1], Long.parseLong(e.value()));
    } else if (m instanceof Append a) {
      byte[][] c = column(e.name());
      a.addColumn(c[0], c[1], Text.bytes(e.value()));
    }
  }

  /** version=family:qualifier@timestamp and so on; without @timestamp the newest version, or everything up to now. */
  private static void delete(Delete d, Option e) {
    String[] at = e.value().split("@");
    long stamp = at.length > 1 ? Long.parseLong(at[1]) : Long.MAX_VALUE;
    byte[][] c = column(at[0]);
    switch (e.name()) {
      case "version" -> d.addColumn(c[0], c[1], stamp);
      case "column" -> d.addColumns(c[0], c[1], stamp);
      case "family" -> d.addFamily(c[0], stamp);
      case "familyversion" -> d.addFamilyVersion(c[0], stamp);
      case "row" -> d.setTimestamp(stamp);
      default -> throw new Fault("no such delete: " + e.name());
    }
  }

  /**
   * ROW CONDITION then VERB EDIT ... [ ; VERB EDIT ...]; the condition is "family:qualifier OPERATOR =value", "... absent", or
   * "filter TEXT" or "call TEXT", with time=min,max before it.
   */
  private List<String> check(String text) throws Exception {
    int then = text.lastIndexOf(" then ");
    String action = text.substring(then + 6);
    String[] words = text.substring(0, then).split(" ");
    byte[] row = Text.bytes(words[0]);
    CheckAndMutate.Builder b = CheckAndMutate.newBuilder(row);
    int i = 1;
    if (words[i].startsWith("time=")) {
      b.timeRange(range(words[i++].substring(5)));
    }
    if (FILTER_KINDS.contains(words[i])) {
      b.ifMatches(filter(words[i], String.join(" ", List.of(words).subList(i + 1, words.length))));
    } else {
      byte[][] c = column(words[i]);
      if (words[i + 1].equals("absent")) {
        b.ifNotExists(c[0], c[1]);
      } else {
        b.ifMatches(c[0], c[1], CompareOperator.valueOf(words[i + 1]), Text.bytes(words[i + 2].substring(1)));
      }
    }
    CheckAndMutateResult r = table.checkAndMutate(build(b, row, action));
    List<String> lines = new ArrayList<>(List.of(String.valueOf(r.isSuccess())));
    lines.addAll(answer(r.getResult()));
    return lines;
  }

  private static CheckAndMutate build(CheckAndMutate.Builder b, byte[] row, String action) throws Exception {
    if (action.contains(" ; ")) {
      return b.build(mutations(row, action));
    }
    Mutation m = mutation(row, action);
    if (m instanceof Put p) {
      return b.build(p);
    } else if (m instanceof Delete d) {
      return b.build(d);
    } else if (m instanceof Increment i) {
      return b.build(i);
    }
    return b.build((Append) m);
  }
}
