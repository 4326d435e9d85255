/** Kubernetes' own types: quantities, semantic versions and named formats. */
import { goQuoted } from '../../go-text.ts'
import { GoUrlError, parseGoRequestUri } from '../../go-url.ts'
import {
  addQuantity,
  compareQuantity,
  isQuantity,
  parseQuantity,
  type Quantity,
  quantityProblem,
  quantityToNumber,
  subtractQuantity,
} from '../../quantity.ts'
import type { StringFormat } from '../../schema/schema.ts'
import { formatChecks } from '../../schema/structural/formats.ts'
import { checkFormat, checkName } from '../../string-formats.ts'
import { CelError } from '../errors.ts'
import { overload, stringTraversal, traversalCost } from '../functions.ts'
import { CelList, type CelValue, Opaque, Optional } from '../values.ts'

/** An amount, with the power of ten that upstream counts it in; undefined where it is no number of 64 bits there. */
interface Amount extends Quantity {
  readonly scale: number | undefined
}
type QuantityValue = Opaque<Amount>

const nanosPerUnit = 1_000_000_000n
const int64Max = 2n ** 63n

/** Quantities are the same where the amounts are, however they are written. */
const amountValue = (amount: Amount): QuantityValue => new Opaque('kubernetes.Quantity', amount, String(amount.nanos))

/** The amount that a text stands for. Throws an Error where it stands for none. */
export const quantityValue = (text: string): QuantityValue =>
  amountValue({ ...parseQuantity(text), scale: scaleOf(text) })

const quantityParts = /^[+-]?0*(\d*)(?:\.(\d*))?(.*)$/
const decimalExponents = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
/** Numbers with more digits are not kept in 64 bits. */
const digitsMax = 18

/** https://github.com/kubernetes/apimachinery/blob/v0.36.0/pkg/api/resource/quantity.go#L275 */
function scaleOf(text: string): number | undefined {
  const [, digits = '', decimals = '', suffix = ''] = quantityParts.exec(text) ?? []
  const size = Math.max(1, digits.length)
  const binary = binarySuffixes.indexOf(suffix) + 1
  // Two to the tenth takes three digits.
  if (binary > 0) return decimals === '' && size + binary * 3 < 15 ? 0 : undefined
  const decimal = decimalExponents.indexOf(suffix)
  const exponent = decimal === -1 ? Number(suffix.slice(1)) : (decimal - 3) * 3
  const scale = exponent - decimals.length
  return size + decimals.length <= digitsMax && scale >= -9 ? scale : undefined
}

/** Sums count in the finer of both, but that nothing has no say. */
function sumOf(a: Amount, b: Amount, sum: Quantity): QuantityValue {
  if (a.scale === undefined || b.scale === undefined) return amountValue({ ...sum, scale: undefined })
  const scale = a.nanos === 0n ? b.scale : b.nanos === 0n ? a.scale : Math.min(a.scale, b.scale)
  return amountValue({ ...sum, scale })
}

function quantity(text: string): QuantityValue {
  const problem = quantityProblem(text)
  if (problem !== undefined) throw new CelError(problem)
  return quantityValue(text)
}

/** As upstream has it only one that is counted in units or more, and in 64 bits: `1000m` is none. */
const isInteger = ({ value: { nanos, scale } }: QuantityValue): boolean => {
  const whole = nanos / nanosPerUnit
  return scale !== undefined && scale >= 0 && whole < int64Max && whole >= -int64Max
}

function asInteger(value: QuantityValue): bigint {
  if (isInteger(value)) return value.value.nanos / nanosPerUnit
  throw new CelError('cannot convert value to integer')
}

const fromInt = (value: bigint): Amount => ({ nanos: value * nanosPerUnit, format: 'DecimalExponent', scale: 0 })
const sign = (value: number): bigint => BigInt(Math.sign(value))

const quantities = [
  overload('isQuantity(string): bool', (text: string) => isQuantity(text), traversalCost),
  overload('quantity(string): kubernetes.Quantity', quantity, traversalCost),
  overload('sign(kubernetes.Quantity): int', ({ value }: QuantityValue) => sign(quantityToNumber(value))),
  overload('kubernetes.Quantity.isInteger(): bool', isInteger),
  overload('kubernetes.Quantity.asInteger(): int', asInteger),
  overload('kubernetes.Quantity.asApproximateFloat(): double', ({ value }: QuantityValue) => quantityToNumber(value)),
  overload(
    'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool',
    (a: QuantityValue, b: QuantityValue) => compareQuantity(a.value, b.value) > 0,
  ),
  overload(
    'kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool',
    (a: QuantityValue, b: QuantityValue) => compareQuantity(a.value, b.value) < 0,
  ),
  overload('kubernetes.Quantity.compareTo(kubernetes.Quantity): int', (a: QuantityValue, b: QuantityValue) =>
    sign(compareQuantity(a.value, b.value)),
  ),
  overload('kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity', (a: QuantityValue, b: QuantityValue) =>
    sumOf(a.value, b.value, addQuantity(a.value, b.value)),
  ),
  overload('kubernetes.Quantity.add(int): kubernetes.Quantity', (a: QuantityValue, b: bigint) =>
    sumOf(a.value, fromInt(b), addQuantity(a.value, fromInt(b))),
  ),
  overload('kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity', (a: QuantityValue, b: QuantityValue) =>
    sumOf(a.value, b.value, subtractQuantity(a.value, b.value)),
  ),
  overload('kubernetes.Quantity.sub(int): kubernetes.Quantity', (a: QuantityValue, b: bigint) =>
    sumOf(a.value, fromInt(b), subtractQuantity(a.value, fromInt(b))),
  ),
]

interface Version {
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly labels: readonly string[]
}
type VersionValue = Opaque<Version>

/** The numbers of a version; what follows them belongs to the last one. */
function threeParts(text: string): readonly string[] {
  const [major = '', minor, ...patch] = text.split('.')
  return [major, ...(minor === undefined ? [] : [minor]), ...(patch.length === 0 ? [] : [patch.join('.')])]
}

/** Leniently: with a `v`, with leading zeros, with numbers missing where no label follows. Throws a CelError. */
function normalized(text: string): string {
  const parts = threeParts(text.replace(/^v/, ''))
  const isShort = parts.length < 3
  if (isShort && /[-+]/.test(parts.at(-1) ?? '')) {
    throw new CelError('short version cannot contain PreRelease/Build meta data')
  }
  const numbers = parts.map((part) => (part.length > 1 ? part.replace(/^0*(?=\d)|^0*(?!\d)/, zeroUnlessDigit) : part))
  return [...numbers, ...new Array<string>(3 - parts.length).fill('0')].join('.')
}

/** In the place of leading zeros stands one, where no other digit follows them. */
const zeroUnlessDigit = (zeros: string, at: number, whole: string): string =>
  /^\d/.test(whole.slice(at + zeros.length)) ? '' : '0'

/** Reads a version as github.com/blang/semver does, and says what is wrong in its words. Throws a CelError. */
function parseVersion(given: string, lenient: boolean): Version {
  const text = lenient ? normalized(given) : given
  if (text === '') throw new CelError('Version string empty')
  const [major = '', minor, rest] = threeParts(text)
  if (minor === undefined || rest === undefined) throw new CelError('No Major.Minor.Patch elements found')
  const [patchAndLabels = '', build] = splitOnce(rest, '+')
  const [patch = '', labels] = splitOnce(patchAndLabels, '-')
  const numbers = [versionNumber('Major', major), versionNumber('Minor', minor), versionNumber('Patch', patch)] as const
  const read = labels?.split('.') ?? []
  for (const label of read) checkLabel(label)
  for (const each of build?.split('.') ?? []) {
    if (each === '') throw new CelError('Build meta data is empty')
    if (!labelPattern.test(each)) throw new CelError(`Invalid character(s) found in build meta data ${goQuoted(each)}`)
  }
  return { numbers, labels: read }
}

function splitOnce(text: string, by: string): readonly [string, string | undefined] {
  const at = text.indexOf(by)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

const labelPattern = /^[0-9A-Za-z-]+$/

function versionNumber(name: string, digits: string): bigint {
  if (/[^0-9]/.test(digits)) {
    throw new CelError(`Invalid character(s) found in ${name.toLowerCase()} number ${goQuoted(digits)}`)
  }
  if (/^0\d/.test(digits)) throw new CelError(`${name} number must not contain leading zeroes ${goQuoted(digits)}`)
  return versionUint(digits)
}

function checkLabel(label: string): void {
  if (label === '') throw new CelError('Prerelease is empty')
  if (/^\d+$/.test(label)) {
    if (/^0\d/.test(label)) {
      throw new CelError(`Numeric PreRelease version must not contain leading zeroes ${goQuoted(label)}`)
    }
    versionUint(label)
  } else if (!labelPattern.test(label)) {
    throw new CelError(`Invalid character(s) found in prerelease ${goQuoted(label)}`)
  }
}

/** Go reads them as numbers of 64 bits. */
function versionUint(digits: string): bigint {
  const wrong = (what: string): CelError => new CelError(`strconv.ParseUint: parsing ${goQuoted(digits)}: ${what}`)
  if (digits === '') throw wrong('invalid syntax')
  const number = digits.length > uint64DigitsMax ? uint64Max + 1n : BigInt(digits)
  if (number > uint64Max) throw wrong('value out of range')
  return number
}

const uint64DigitsMax = 20
const uint64Max = 2n ** 64n - 1n

function isVersion(text: string, lenient: boolean): boolean {
  try {
    parseVersion(text, lenient)
    return true
  } catch (error) {
    if (error instanceof CelError) return false
    throw error
  }
}

/** Throws a CelError where it is none. */
export function semver(text: string, lenient = false): VersionValue {
  const version = parseVersion(text, lenient)
  return new Opaque('kubernetes.Semver', version, `${version.numbers.join('.')}-${version.labels.join('.')}`)
}

function compareVersions({ value: a }: VersionValue, { value: b }: VersionValue): number {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n
    if (number !== other) return number < other ? -1 : 1
  }
  // A version with labels comes before the one without.
  if (a.labels.length === 0 || b.labels.length === 0) return Math.sign(b.labels.length - a.labels.length)
  for (const [index, label] of a.labels.entries()) {
    const other = b.labels[index]
    if (other === undefined) return 1
    const order = compareLabels(label, other)
    if (order !== 0) return order
  }
  return a.labels.length < b.labels.length ? -1 : 0
}

function compareLabels(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (isNumber && isOtherNumber) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

const versions = [
  overload('isSemver(string): bool', (text: string) => isVersion(text, false), traversalCost),
  overload('isSemver(string, bool): bool', isVersion, traversalCost),
  overload('semver(string): kubernetes.Semver', (text: string) => semver(text), traversalCost),
  overload('semver(string, bool): kubernetes.Semver', semver, traversalCost),
  overload('kubernetes.Semver.major(): int', ({ value }: VersionValue) => BigInt.asIntN(64, value.numbers[0])),
  overload('kubernetes.Semver.minor(): int', ({ value }: VersionValue) => BigInt.asIntN(64, value.numbers[1])),
  overload('kubernetes.Semver.patch(): int', ({ value }: VersionValue) => BigInt.asIntN(64, value.numbers[2])),
  overload(
    'kubernetes.Semver.isGreaterThan(kubernetes.Semver): bool',
    (a: VersionValue, b: VersionValue) => compareVersions(a, b) > 0,
  ),
  overload(
    'kubernetes.Semver.isLessThan(kubernetes.Semver): bool',
    (a: VersionValue, b: VersionValue) => compareVersions(a, b) < 0,
  ),
  overload('kubernetes.Semver.compareTo(kubernetes.Semver): int', (a: VersionValue, b: VersionValue) =>
    BigInt(compareVersions(a, b)),
  ),
]

/** Formats by name, with what is wrong with a text. */
const named: Readonly<Record<string, (text: string) => readonly string[]>> = {
  dns1123Label: ofFormat('dns1123-label'),
  dns1123Subdomain: ofFormat('dns1123-subdomain'),
  dns1035Label: ofFormat('dns1035-label'),
  qualifiedName: ofFormat('qualified-name'),
  dns1123LabelPrefix: ofPrefix('dns1123-label'),
  dns1123SubdomainPrefix: ofPrefix('dns1123-subdomain'),
  dns1035LabelPrefix: ofPrefix('dns1035-label'),
  labelValue: ofFormat('label-value'),
  uri: uriProblems,
  uuid: ofCheck('uuid', 'does not match the UUID format'),
  byte: ofCheck('byte', 'invalid base64'),
  date: ofCheck('date', 'invalid date'),
  datetime: ofCheck('datetime', 'invalid datetime'),
}

function ofFormat(format: StringFormat): (text: string) => readonly string[] {
  return (text) => checkFormat(format, text)
}

/** Of the beginning of a name, to which something is added. */
function ofPrefix(format: Parameters<typeof checkName>[0]): (text: string) => readonly string[] {
  return (text) => checkName(format, text, true)
}

function uriProblems(text: string): readonly string[] {
  try {
    parseGoRequestUri(text)
    return []
  } catch (error) {
    if (error instanceof GoUrlError) return [error.message]
    throw error
  }
}

function ofCheck(format: string, problem: string): (text: string) => readonly string[] {
  return (text) => (formatChecks.get(format)?.(text) === true ? [] : [problem])
}

/** What it costs to hold a tenth of a text against the pattern of a format; the patterns of upstream are of different lengths. */
const patternCostOf: Readonly<Record<string, number>> = {
  dns1123Label: 8,
  dns1123Subdomain: 15,
  dns1035Label: 8,
  qualifiedName: 15,
  dns1123LabelPrefix: 8,
  dns1123SubdomainPrefix: 15,
  dns1035LabelPrefix: 8,
  labelValue: 10,
  uri: 276,
  uuid: 18,
  byte: 21,
  date: 18,
  datetime: 18,
}

const patternCosts = (format: CelValue | undefined): number =>
  format instanceof Opaque ? (patternCostOf[format.text] ?? 1) : 1

const formatOf = (name: string): Opaque<(text: string) => readonly string[]> | undefined => {
  const check = Object.hasOwn(named, name) ? named[name] : undefined
  return check === undefined ? undefined : new Opaque('kubernetes.NamedFormat', check, name)
}

const formats = [
  overload('format.named(string): optional<kubernetes.NamedFormat>', (name: string) => {
    const format = formatOf(name)
    return format === undefined ? Optional.none : new Optional(format)
  }),
  ...Object.keys(named).map((name) =>
    overload(`format.${name}(): kubernetes.NamedFormat`, () => formatOf(name) ?? null),
  ),
  overload(
    'kubernetes.NamedFormat.validate(string): optional<list<string>>',
    ({ value }: Opaque<(text: string) => readonly string[]>, text: string) => {
      const problems = value(text)
      return problems.length === 0 ? Optional.none : new Optional(CelList.of(problems))
    },
    ([, size = 1], [format]) => Math.ceil((size + 1) * stringTraversal) * patternCosts(format),
  ),
]

/** For expressions that make patches. */
export const jsonPatches = [
  // As a part of a JSON pointer.
  overload(
    'jsonpatch.escapeKey(string): string',
    (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1'),
    traversalCost,
  ),
]

export const kubernetes = [...quantities, ...versions, ...formats]
