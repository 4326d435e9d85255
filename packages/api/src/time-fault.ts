/** The parts of a time of RFC 3339: how Go's layout calls each, what it may be, and its limits where it is a number. */
interface Part {
  readonly name: string
  readonly pattern: RegExp
  readonly range?: readonly [noun: string, least: number, most: number]
}

const untilMinutes: readonly Part[] = [
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
]
const zone: Part = { name: 'Z07:00', pattern: /^(Z|[+-]\d\d:\d\d)/ }

/** The forms of times with whole seconds, which may have a fraction all the same, and with six digits of one: as Go writes layouts. */
const layouts = {
  second: {
    text: '2006-01-02T15:04:05Z07:00',
    parts: [...untilMinutes, { name: '05', pattern: /^\d\d([.,]\d+)?/, range: ['second', 0, 59] }, zone],
  },
  micro: {
    text: '2006-01-02T15:04:05.000000Z07:00',
    parts: [
      ...untilMinutes,
      { name: '05', pattern: /^\d\d/, range: ['second', 0, 59] },
      { name: '.000000', pattern: /^[.,]\d{6}/ },
      zone,
    ],
  },
} as const satisfies Record<string, { readonly text: string; readonly parts: readonly Part[] }>

/** Why a text is no time of RFC 3339, in the words of Go's `time.Parse`; undefined where it is one. */
export function goTimeFault(text: string, layout: keyof typeof layouts = 'second'): string | undefined {
  const quoted = quotedBytes(text)
  const { text: form, parts } = layouts[layout]
  let rest = text
  let outOfRange: string | undefined
  for (const { name, pattern, range } of parts as readonly Part[]) {
    const [found] = pattern.exec(rest) ?? []
    if (found === undefined)
      return `parsing time ${quoted} as "${form}": cannot parse ${quotedBytes(rest)} as "${name}"`
    const number = Number.parseInt(found, 10)
    if (range !== undefined && (number < range[1] || number > range[2])) {
      // A day is held against its month once all has been read.
      if (range[0] !== 'day') return `parsing time ${quoted}: ${range[0]} out of range`
      outOfRange = 'day'
    }
    rest = rest.slice(found.length)
  }
  if (rest !== '') return `parsing time ${quoted}: extra text: ${quotedBytes(rest)}`
  const [year = 0, month = 0, day = 0] = text.split(/[-T]/).map(Number)
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  if (day > days) outOfRange = 'day'
  return outOfRange === undefined ? undefined : `parsing time ${quoted}: ${outOfRange} out of range`
}

/** A text between quotes, as Go's package of times writes it: what is not plain ASCII is shown by its bytes. */
function quotedBytes(text: string): string {
  let inside = ''
  for (const char of text) {
    if (char >= ' ' && char < '\x80') inside += char === '"' || char === '\\' ? `\\${char}` : char
    else for (const byte of new TextEncoder().encode(char)) inside += `\\x${byte.toString(16).padStart(2, '0')}`
  }
  return `"${inside}"`
}
