/** Formats of text that schemas of custom resources may name: those of kube-openapi's strfmt, without dashes in their names. */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { checkFormat } from '../../string-formats.ts'

const matches = (pattern: RegExp) => (text: string) => pattern.test(text)

const uuid = (version: string, variant: string): ((text: string) => boolean) =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i'))

/** Whether a text has the format, by the format's name. */
export const formatChecks: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['cidr', isCidr],
  ['mac', matches(/^([0-9a-f]{2}([:-]))([0-9a-f]{2}\2){4,18}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2,9}[0-9a-f]{4}$/i)],
  ['uuid', uuid('[0-9a-f]', '[0-9a-f]')],
  ['uuid3', uuid('3', '[0-9a-f]')],
  ['uuid4', uuid('4', '[89ab]')],
  ['uuid5', uuid('5', '[89ab]')],
  ['isbn', (text: string) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ['hexcolor', matches(/^#?([0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['rgbcolor', isRgbColor],
  ['byte', matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text: string) => checkFormat('dns1123-label', text).length === 0],
  ['k8slongname', (text: string) => checkFormat('dns1123-subdomain', text).length === 0],
])

/** Whether texts are checked by a format of this name; dashes in it do not count. */
export const isKnownFormat = (format: string): boolean => formatChecks.has(format.replaceAll('-', ''))

/** What can be asked of a server: with a scheme, or a path from the root. */
function isRequestUri(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text)) return false
  return text.startsWith('/') || (/^[a-z][a-z0-9+.-]*:[^#]/i.test(text) && URL.canParse(text))
}

function isEmail(text: string): boolean {
  const address = /<([^<>]+)>\s*$/.exec(text)?.[1] ?? text
  return /^[^\s@<>()[\],;:\\"]+@[^\s@<>()[\],;:\\"]+$/.test(address) && !/^\.|\.\.|\.@|@\.|\.$/.test(address)
}

const hostLabel = /^[a-z0-9\p{S}\p{L}]([a-z0-9\p{S}\p{L}-]{0,61}[a-z0-9\p{S}\p{L}])?$/iu
/** A name without dots has a dash as its second character at most. */
const soleHostLabel = /^[a-z0-9\p{S}\p{L}](-?[a-z0-9\p{S}\p{L}]{0,62})?$/iu
const topLevelDomain = /^[a-z\p{L}]{2,63}$/iu

function isHostname(text: string): boolean {
  const labels = text.split('.')
  if (Buffer.byteLength(text) > 255) return false
  const [only = ''] = labels
  if (labels.length === 1) return soleHostLabel.test(only)
  return topLevelDomain.test(labels.at(-1) ?? '') && labels.slice(0, -1).every((label) => hostLabel.test(label))
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/')
  const version = isIP(address)
  return rest.length === 0 && version !== 0 && /^(0|[1-9]\d*)$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, '')
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  const sum = [...digits].reduce(
    (total, digit, index) => total + (digit === 'X' ? 10 : Number(digit)) * (10 - index),
    0,
  )
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, '')
  if (!/^\d{13}$/.test(digits)) return false
  return [...digits].reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0
}

const cardPattern =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '')
  if (!cardPattern.test(digits)) return false
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

function isRgbColor(text: string): boolean {
  const parts = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text)
  return parts?.slice(1).every((part) => Number(part) <= 255) ?? false
}

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (parts === null) return false
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number]
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month)
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
}

function isDateTime(text: string): boolean {
  const parts = /^(\d{4}-\d{2}-\d{2})t(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:z|[+-]\d{2}:\d{2})$/i.exec(text)
  if (parts === null) return false
  const [, date = '', hours, minutes, seconds] = parts
  return isDate(date) && Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 60
}

const goDuration = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/
const wordDuration =
  /^(?:\s*\d+\s*(?:ns|nano|us|\u00b5s|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)[a-z]*)+\s*$/i

/** As Go writes them (`1h30m`), or in words (`3 days`). */
function isDuration(text: string): boolean {
  return goDuration.test(text) || wordDuration.test(text)
}
