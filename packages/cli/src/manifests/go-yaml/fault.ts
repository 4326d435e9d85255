/** What Go's YAML finds wrong in a text. */
export class YamlFault extends Error {
  override readonly name = 'YamlFault'
  /** As Go's YAML counts it; 0 where it names none. */
  readonly line: number

  constructor(problem: string, line: number) {
    super(problem)
    this.line = line
  }
}
