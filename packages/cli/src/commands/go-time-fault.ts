/** The parts of a time of RFC 3339: how Go's layout calls each, what it may be, and its limits where it is a number. */
const parts: readonly {
  readonly name: string
  readonly pattern: RegExp
  readonly range?: readonly [noun: string, least: number, most: number]
}[] = [
  { name: '2006', pattern: /^\d{4}/ },
  { name: '-', pattern: /^-/ },
  { name: '01', pattern: /^\d\d/, range: ['month', 1, 12] },
  { name: '-', pattern: /^-/ },
  { name: '02', pattern: /^\d\d/, range: ['day', 1, 31] },
  { name: 'T', pattern: /^T/ },
  { name: '15', pattern: /^\d\d?/, range: ['hour', 0, 23] },
  { name: ':', pattern: /^:/ },
  { name: '04', pattern: /^\d\d/, range: ['minute', 0, 59] },
  { name: ':', pattern: /^:/ },
  { name: '05', pattern: /^\d\d([.,]\d+)?/, range: ['second', 0, 59] },
  { name: 'Z07:00', pattern: /^(Z|[+-]\d\d:\d\d)/ },
]

/** Why a text is no time of RFC 3339, in the words of Go's `time.Parse`; undefined where it is one. */
export function goTimeFault(text: string): string | undefined {
  const quoted = JSON.stringify(text)
  let rest = text
  let outOfRange: string | undefined
  for (const { name, pattern, range } of parts) {
    const [found] = pattern.exec(rest) ?? []
    if (found === undefined) {
      return `parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(name)}`
    }
    const number = Number.parseInt(found, 10)
    if (range !== undefined && (number < range[1] || number > range[2])) {
      // A day is held against its month once all has been read.
      if (range[0] !== 'day') return `parsing time ${quoted}: ${range[0]} out of range`
      outOfRange = 'day'
    }
    rest = rest.slice(found.length)
  }
  if (rest !== '') return `parsing time ${quoted}: extra text: ${JSON.stringify(rest)}`
  const [year = 0, month = 0, day = 0] = text.split(/[-T]/).map(Number)
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  if (day > days) outOfRange = 'day'
  return outOfRange === undefined ? undefined : `parsing time ${quoted}: ${outOfRange} out of range`
}
