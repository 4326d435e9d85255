/** What Ginkgo's second version writes before the names of specs; all else that it reports are steps of its own. */
const specMark = '[It] '

/** The names of the specs in a report that Ginkgo has written in JUnit's form. */
export function specNamesOf(xml: string): readonly string[] {
  const names = [...xml.matchAll(/<testcase name="([^"]*)"/g)].map(([, name = '']) => decoded(name))
  const marked = names.filter((name) => name.startsWith(specMark))
  return marked.length === 0 ? names : marked.map((name) => name.slice(specMark.length))
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
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** What it said when it failed, or why it skipped itself; '' where it has not said anything. */
  readonly reason: string
}

/** Reads the output of `e2e.test` line by line, and tells what became of each spec as soon as it is said. */
export interface OutputReader {
  /** The result that this line tells of. */
  read(line: string): SpecResult | undefined
}

/** Reads what upstream's own reporter writes beside Ginkgo's first version. */
export class FirstOutputReader implements OutputReader {
  #failure = ''

  read(line: string): SpecResult | undefined {
    const [, failure] = /: FAIL: (.*)$/.exec(line) ?? []
    if (failure !== undefined && this.#failure === '') this.#failure = failure
    const [, json] = /(\{"msg":"(?:PASSED|FAILED) .*\})\s*$/.exec(line) ?? []
    if (json === undefined) return undefined
    const { msg } = JSON.parse(json) as { readonly msg: string }
    const outcome = msg.startsWith('PASSED ') ? 'passed' : 'failed'
    const reason = outcome === 'passed' ? '' : this.#failure
    this.#failure = ''
    return { name: msg.slice('PASSED '.length), outcome, reason }
  }
}

/** So many lines of what a spec says are enough to tell failures apart. */
const reasonLinesMax = 4

/**
 * Reads what Ginkgo's second version writes with `--ginkgo.v`: the name of a spec under a line of dashes, what it does, and how it ended.
 * Where it has not passed, why stands below that, up to a line that tells where in its source.
 */
export class SecondOutputReader implements OutputReader {
  readonly #names: readonly string[]
  #atStart = false
  #name: string | undefined
  #outcome: SpecResult['outcome'] | undefined
  #reason: string[] | undefined

  /** The names of the specs that are run. */
  constructor(names: readonly string[]) {
    // Labels stand behind a name in the output, so that it may begin with the names of two specs.
    this.#names = [...names].sort((a, b) => b.length - a.length)
  }

  read(line: string): SpecResult | undefined {
    if (this.#atStart) this.#name = this.#nameIn(line) ?? this.#name
    this.#atStart = /^-{20,}$/.test(line)
    if (this.#name === undefined) return undefined
    if (this.#outcome !== undefined) return this.#readReason(line)
    const [, mark, state] = /^([\u2022S]) (?:\[([A-Z]+)\] )?\[[\d.]+ seconds\]$/.exec(line) ?? []
    if (mark === undefined) return undefined
    if (state === undefined) return this.#result('passed', '')
    this.#outcome = state === 'SKIPPED' ? 'skipped' : 'failed'
    return undefined
  }

  #nameIn(line: string): string | undefined {
    return this.#names.find((name) => line === name || line.startsWith(`${name} [`))
  }

  #readReason(line: string): SpecResult | undefined {
    const [, first] = /^ {2}\[[A-Z]+\] (.*)$/.exec(line) ?? []
    if (first !== undefined) this.#reason ??= [first]
    else if (/^ {2}In \[/.test(line) || this.#atStart) {
      return this.#result(this.#outcome ?? 'failed', (this.#reason ?? []).slice(0, reasonLinesMax).join(' '))
    } else this.#reason?.push(line.trim())
    return undefined
  }

  #result(outcome: SpecResult['outcome'], reason: string): SpecResult {
    const name = this.#name ?? ''
    this.#name = undefined
    this.#outcome = undefined
    this.#reason = undefined
    return { name, outcome, reason }
  }
}
