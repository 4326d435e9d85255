/** The names of the specs in a report that Ginkgo has written in JUnit's form. */
export function specNamesOf(xml: string): readonly string[] {
  return [...xml.matchAll(/<testcase name="([^"]*)"/g)].map(([, name = '']) => decoded(name))
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decoded(text: string): string {
  return text.replace(
    /&(?:#(x[0-9a-f]+|\d+)|(\w+));/gi,
    (all, number: string | undefined, name: string | undefined) => {
      if (number === undefined) return entities[name ?? ''] ?? all
      return String.fromCodePoint(number.startsWith('x') ? Number.parseInt(number.slice(1), 16) : Number(number))
    },
  )
}

/** What became of one spec. */
export interface SpecResult {
  readonly name: string
  readonly passed: boolean
  /** What it said when it failed; '' where it has not said anything. */
  readonly failure: string
}

/** Reads the output of `e2e.test` line by line, and tells what became of each spec as soon as it is said. */
export class OutputReader {
  #failure = ''

  /** The result that this line tells of. */
  read(line: string): SpecResult | undefined {
    const [, failure] = /: FAIL: (.*)$/.exec(line) ?? []
    if (failure !== undefined && this.#failure === '') this.#failure = failure
    const [, json] = /(\{"msg":"(?:PASSED|FAILED) .*\})\s*$/.exec(line) ?? []
    if (json === undefined) return undefined
    const { msg } = JSON.parse(json) as { readonly msg: string }
    const passed = msg.startsWith('PASSED ')
    const result = { name: msg.slice('PASSED '.length), passed, failure: passed ? '' : this.#failure }
    this.#failure = ''
    return result
  }
}
