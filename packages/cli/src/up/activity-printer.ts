import { formatTime } from '@coracle/api'
import { type Clock, localTimeOfDay } from '@coracle/environment'
import type { Output } from '../host.ts'
import { padEnd, textWidth } from '../output/align.ts'
import type { ChangeOf } from './log-changes.ts'
import type { Tone } from './pod-changes.ts'
import type { ChangePrinter } from './reporter.ts'

/** The names of objects get this much room, and more as they need it. */
const aboutWidthMin = 28
const aboutWidthMax = 60

const colours: Readonly<Record<Tone, string>> = { plain: '', good: '\u001b[32m', bad: '\u001b[33m' }
/** Says nothing to a person, who has the name; in parentheses where a message gives both. */
const uid = / ?\(?\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b\)?/g

const dim = '\u001b[2m'
const reset = '\u001b[0m'

export interface PrinterOptions {
  readonly coloured: boolean
  /** With the day, for who reads it later. */
  readonly dated?: boolean
}

/**
 * Prints changes one a line: time, object, what happened. The lines of a turn of the event loop go out together: writing
 * to a terminal or a pipe holds everything up, and a thousand pods change in a moment.
 */
export class ActivityPrinter implements ChangePrinter {
  readonly #clock: Clock
  readonly #output: Output
  readonly #coloured: boolean
  readonly #textOf: (ms: number) => string
  #aboutWidth = aboutWidthMin
  /** The second that was shown last, and how. */
  #shown = { second: Number.NaN, text: '' }
  #lines = ''

  constructor(clock: Clock, output: Output, { coloured, dated = false }: PrinterOptions) {
    this.#clock = clock
    this.#output = output
    this.#coloured = coloured
    this.#textOf = dated ? formatTime : localTimeOfDay
  }

  print(nowMs: number, { about, what, tone }: ChangeOf): void {
    this.#aboutWidth = Math.max(this.#aboutWidth, Math.min(textWidth(about), aboutWidthMax))
    const time = this.#timeText(nowMs)
    const name = padEnd(about, this.#aboutWidth)
    // Messages come from programs that run in the cluster: none of them may break the line or drive the terminal.
    const text = what
      .replaceAll(/\p{Cc}+/gu, ' ')
      .replaceAll(uid, '')
      .trim()
    if (this.#lines === '') this.#clock.defer(() => this.flush())
    this.#lines += this.#coloured
      ? `${dim}${time}${reset}  ${name}  ${colours[tone]}${text}${tone === 'plain' ? '' : reset}\n`
      : `${time}  ${name}  ${text}\n`
  }

  /** Writes the lines there are without waiting for the end of the turn. */
  flush(): void {
    const lines = this.#lines
    this.#lines = ''
    if (lines !== '') this.#output.write(lines)
  }

  #timeText(nowMs: number): string {
    const second = Math.floor(nowMs / 1000)
    if (second !== this.#shown.second) this.#shown = { second, text: this.#textOf(nowMs) }
    return this.#shown.text
  }
}
