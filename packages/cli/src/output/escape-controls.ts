/**
 * Text of objects for a terminal, which must not take commands from it: what begins an escape sequence is shown as `^[`, a
 * carriage return as `\\r` (cli-runtime's WriteEscaped).
 */
export function escapeControls(text: string): string {
  return text.replaceAll('\u001b', '^[').replaceAll('\r', '\\r')
}
