/** A mistake in a script, apart from what HBase answers. */
final class Fault extends RuntimeException {
  private static final long serialVersionUID = 1;

  Fault(String says) {
    super(says);
  }
}
