/**
 * The text format of Prometheus, version 0.0.4:
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */

/** A value of a series. A histogram has several, told apart by a suffix of the name and the label `le`. */
export interface Sample {
  readonly suffix: '' | '_bucket' | '_sum' | '_count'
  /** Labels beside those of the series, as they are written. */
  readonly labels: string
  readonly value: number
}

/** The series of one metric with what is said about it. */
export function metricText(
  name: string,
  type: string,
  help: string,
  series: readonly { readonly labels: string; readonly samples: readonly Sample[] }[],
): string {
  const lines = series.flatMap(({ labels, samples }) =>
    samples.map((sample) => {
      const all = [labels, sample.labels].filter((text) => text !== '').join(',')
      return `${name}${sample.suffix}${all === '' ? '' : `{${all}}`} ${valueText(sample.value)}\n`
    }),
  )
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

/** `name="value",…` in the order given. */
export function labelsText(labels: readonly (readonly [name: string, value: string])[]): string {
  return labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')
}

function escaped(value: string): string {
  if (!/[\\"\n]/.test(value)) return value
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** A value as it is written: infinities have names of their own. */
export function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return String(value)
}
