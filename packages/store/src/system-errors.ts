/** The code of an error that the system or Node.js has given one, as `ENOENT`; undefined for anything else. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
