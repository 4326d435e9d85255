/**
 * What `read` makes of this program's arguments. `--help` prints `usage` and ends the program; so does, with exit code 2, what `read`
 * throws, which is printed first.
 */
export function readCommandLine<T>(usage: string, read: (args: readonly string[]) => T): T {
  const args = process.argv.slice(2)
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage)
    process.exit(0)
  }
  try {
    return read(args)
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(2)
  }
}

/** Throws where the option is something else than a whole number from `min` on. */
export function wholeNumber(name: string, text: string, min = 0): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= min) return Number(text)
  throw new Error(`--${name} takes a whole number from ${min} on, not ${JSON.stringify(text)}`)
}
