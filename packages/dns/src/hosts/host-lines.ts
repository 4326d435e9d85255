/** musl reads lines of so many bytes with their end, and takes the rest of a longer one for another. */
const lineBytesMax = 511

/** Lines of a hosts file that give an address names, the first of which is its own: as many as it takes. */
export function hostLines(address: string, names: readonly string[]): readonly string[] {
  const lines: string[] = []
  let line = address
  for (const name of names) {
    if (line.length + name.length + 2 > lineBytesMax) {
      lines.push(`${line}\n`)
      line = address
    }
    line += `\t${name}`
  }
  return line === address ? lines : [...lines, `${line}\n`]
}
