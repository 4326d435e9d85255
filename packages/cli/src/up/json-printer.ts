import { formatMicroTime } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Output } from '../host.ts'
import type { ChangeOf } from './log-changes.ts'
import type { Tone } from './pod-changes.ts'
import type { ChangePrinter } from './reporter.ts'

const severities: Readonly<Record<Tone, string>> = { plain: 'info', good: 'good', bad: 'warning' }

/** Prints changes for programs: a JSON object a line, those of a turn of the event loop together. */
export class JsonPrinter implements ChangePrinter {
  readonly #clock: Clock
  readonly #output: Output
  #lines = ''

  constructor(clock: Clock, output: Output) {
    this.#clock = clock
    this.#output = output
  }

  print(timeMs: number, { about, what, tone }: ChangeOf): void {
    if (this.#lines === '') this.#clock.defer(() => this.flush())
    this.#lines += jsonLine({
      time: formatMicroTime(timeMs),
      type: 'change',
      object: about,
      message: what,
      severity: severities[tone],
    })
  }

  flush(): void {
    const lines = this.#lines
    this.#lines = ''
    if (lines !== '') this.#output.write(lines)
  }
}

export const jsonLine = (fields: Readonly<Record<string, unknown>>): string => `${JSON.stringify(fields)}\n`
