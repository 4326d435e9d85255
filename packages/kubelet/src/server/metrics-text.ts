import { labelsText, valueText } from '@coracle/environment'

/** A line of a metric. */
export interface Sample {
  /** Labels without a value are those that are not there. */
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** When it was read, in milliseconds. Absent: it does not change, or the time of the scrape will do. */
  readonly atMs?: number
}

/** The text format of Prometheus, with the times of samples: these are readings, and no metrics of this process. */
export class MetricsText {
  #text = ''

  /** A metric without samples is left out. */
  metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): void {
    if (samples.length === 0) return
    this.#text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    for (const { labels, value, atMs } of samples) {
      const text = labelsText(Object.entries(labels))
      this.#text += `${name}${text === '' ? '' : `{${text}}`} ${valueText(value)}${atMs === undefined ? '' : ` ${atMs}`}\n`
    }
  }

  toString(): string {
    return this.#text
  }
}
