/** Kubernetes' own types: quantities, semantic versions and named formats. */
import {
  addQuantity,
  compareQuantity,
  formatQuantity,
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

type QuantityValue = Opaque<Quantity>

const nanosPerUnit = 1_000_000_000n
const int64Max = 2n ** 63n

/** Quantities are the same where the amounts are, however they are written. */
export const quantityValue = (quantity: Quantity): QuantityValue =>
  new Opaque('kubernetes.Quantity', quantity, String(quantity.nanos))

function quantity(text: string): QuantityValue {
  const problem = quantityProblem(text)
  if (problem !== undefined) throw new CelError(problem)
  return quantityValue(parseQuantity(text))
}

const isInteger = ({ value: { nanos } }: QuantityValue): boolean => {
  const whole = nanos / nanosPerUnit
  return nanos % nanosPerUnit === 0n && whole < int64Max && whole >= -int64Max
}

function asInteger(value: QuantityValue): bigint {
  if (isInteger(value)) return value.value.nanos / nanosPerUnit
  throw new CelError('cannot convert value to integer')
}

const fromInt = (value: bigint): Quantity => ({ nanos: value * nanosPerUnit, format: 'DecimalSI' })
const sign = (value: number): bigint => BigInt(Math.sign(value))

const quantities = [
  overload('isQuantity(string): bool', (text: string) => isQuantity(text), traversalCost),
  overload('quantity(string): kubernetes.Quantity', quantity, traversalCost),
  overload('kubernetes.Quantity.sign(): int', ({ value }: QuantityValue) => sign(quantityToNumber(value))),
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
    quantityValue(addQuantity(a.value, b.value)),
  ),
  overload('kubernetes.Quantity.add(int): kubernetes.Quantity', (a: QuantityValue, b: bigint) =>
    quantityValue(addQuantity(a.value, fromInt(b))),
  ),
  overload('kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity', (a: QuantityValue, b: QuantityValue) =>
    quantityValue(subtractQuantity(a.value, b.value)),
  ),
  overload('kubernetes.Quantity.sub(int): kubernetes.Quantity', (a: QuantityValue, b: bigint) =>
    quantityValue(subtractQuantity(a.value, fromInt(b))),
  ),
  overload('string(kubernetes.Quantity): string', ({ value }: QuantityValue) => formatQuantity(value)),
]

interface Version {
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly labels: readonly string[]
}
type VersionValue = Opaque<Version>

const versionPattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/

/** Leniently: with a `v`, with leading zeros, with numbers missing where no label follows. */
function normalized(text: string): string {
  const [major = '', minor, ...patch] = text.replace(/^v/, '').split('.')
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(patch.length === 0 ? [] : [patch.join('.')])]
  const isShort = parts.length < 3
  if (isShort && /[-+]/.test(parts.at(-1) ?? '')) return ''
  const numbers = parts.map((part) => part.replace(/^0+(?=\d)/, ''))
  return [...numbers, ...new Array<string>(3 - parts.length).fill('0')].join('.')
}

function parseVersion(text: string, lenient: boolean): Version | undefined {
  const parts = versionPattern.exec(lenient ? normalized(text) : text)
  if (parts === null) return undefined
  const [, major = '0', minor = '0', patch = '0', labels = ''] = parts
  const numbers = [major, minor, patch, ...labels.split('.').filter((label) => /^\d+$/.test(label))]
  // Go reads them as numbers of 64 bits.
  if (numbers.some((number) => number.length > uint64DigitsMax || BigInt(number) > uint64Max)) return undefined
  return {
    numbers: [BigInt(major), BigInt(minor), BigInt(patch)],
    labels: labels === '' ? [] : labels.split('.'),
  }
}

const uint64DigitsMax = 20
const uint64Max = 2n ** 64n - 1n

/** Throws a CelError where it is none. */
export function semver(text: string, lenient = false): VersionValue {
  const version = parseVersion(text, lenient)
  if (version === undefined) throw new CelError(`invalid semver: ${JSON.stringify(text)}`)
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
  overload('isSemver(string): bool', (text: string) => parseVersion(text, false) !== undefined, traversalCost),
  overload(
    'isSemver(string, bool): bool',
    (text: string, lenient: boolean) => parseVersion(text, lenient) !== undefined,
    traversalCost,
  ),
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
  uri: ofCheck('uri', 'invalid URI'),
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
