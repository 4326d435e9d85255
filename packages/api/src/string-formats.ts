/** What names, label values, environment variables and the like must look like, in the words of apimachinery's util/validation. */
import { BlockList, isIP } from 'node:net'
import { type FieldError, invalidField, requiredField } from './field-error.ts'
import type { FieldPath } from './field-path.ts'
import type { StringFormat } from './schema/schema.ts'

export const dns1123LabelMax = 63
export const dns1123SubdomainMax = 253
export const dns1035LabelMax = 63
export const labelValueMax = 63
export const qualifiedNameMax = 63
export const ianaServiceNameMax = 15

/** What is wrong with `value`, one message per fault; empty where it has the format. */
export function checkFormat(format: StringFormat, value: string): readonly string[] {
  return checks[format](value)
}

/**
 * A format in JSON Schema's vocabulary, as CustomResourceDefinitions need it: what it accepts, `checkFormat` accepts, and the other
 * way round. Patterns are in the syntax of RE2.
 */
export function formatAsJsonSchema(format: StringFormat): FormatSchema {
  return jsonSchemas[format]
}

/** The part of JSON Schema that formats need. */
export interface FormatSchema {
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly allOf?: readonly FormatSchema[]
  readonly anyOf?: readonly FormatSchema[]
  readonly not?: FormatSchema
}

/** Names of kinds that are path segments only; upstream's path.IsValidPathSegmentName. */
export function checkPathSegment(value: string): readonly string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`]
  return ['/', '%'].filter((each) => value.includes(each)).map((each) => `may not contain '${each}'`)
}

/**
 * A name as a kind wants it. A `prefix` is a generateName: a trailing dash is allowed, since characters follow it.
 * The words are those of apimachinery's api/validation.
 */
export function checkName(
  format: 'dns1123-subdomain' | 'dns1123-label' | 'dns1035-label' | 'path-segment',
  name: string,
  prefix = false,
): readonly string[] {
  if (format === 'path-segment') return checkPathSegment(name)
  return checkFormat(format, prefix ? maskTrailingDash(name) : name)
}

/** `*.example.com`: any one label below a subdomain; apimachinery's IsWildcardDNS1123Subdomain. */
export function checkWildcardSubdomain(value: string): readonly string[] {
  const errors = value.length > dns1123SubdomainMax ? [maxLengthMessage(dns1123SubdomainMax)] : []
  if (value.startsWith('*.') && subdomainPattern.test(value.slice(2))) return errors
  const rule =
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
  return [...errors, patternMessage(rule, `\\*\\.${subdomain}`, '*.example.com')]
}

const underscoredLabel = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const underscoredSubdomain = `${underscoredLabel}(\\.${underscoredLabel})*`
const underscoredPattern = new RegExp(`^${underscoredSubdomain}$`)

/** A subdomain whose labels may have underscores, as names of services in DNS have; apimachinery's IsDNS1123SubdomainWithUnderscore. */
export function checkUnderscoredSubdomain(value: string): readonly string[] {
  const errors = value.length > dns1123SubdomainMax ? [maxLengthMessage(dns1123SubdomainMax)] : []
  if (underscoredPattern.test(value)) return errors
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character"
  return [...errors, patternMessage(rule, underscoredSubdomain, 'example.com')]
}

const httpPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const httpPathPattern = new RegExp(`^${httpPath}$`)

/** `example.com/controller`: a subdomain and a path; apimachinery's IsDomainPrefixedPath. */
export function checkDomainPrefixedPath(value: string, path: FieldPath): readonly FieldError[] {
  if (value === '') return [requiredField(path)]
  const slash = value.indexOf('/')
  if (slash <= 0 || slash === value.length - 1) {
    return [invalidField(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  const [domain, rest] = [value.slice(0, slash), value.slice(slash + 1)]
  const errors = checkSubdomain(domain).map((why) => invalidField(path, domain, why))
  if (!httpPathPattern.test(rest)) errors.push(invalidField(path, rest, patternMessage('Invalid path', httpPath)))
  return errors
}

/** `must be no more than 63 characters`; of labels upstream says bytes. */
export const maxLengthMessage = (max: number, unit: 'bytes' | 'characters' = 'characters'): string =>
  `must be no more than ${max} ${unit}`

/** `must be between 1 and 65535, inclusive` */
export const rangeMessage = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`

/** How upstream says that a text does not match a pattern, with examples of texts that do. */
export function patternMessage(message: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`
  const shown = examples.map((each) => `'${each}', `).join(' or ')
  return `${message} (e.g. ${shown}regex used for validation is '${pattern}')`
}

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomain = `${label}(\\.${label})*`
const dns1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const labelValue = `(${qualified})?`
const configKey = '[-._a-zA-Z0-9]+'

const labelPattern = new RegExp(`^${label}$`)
const subdomainPattern = new RegExp(`^${subdomain}$`)
const dns1035Pattern = new RegExp(`^${dns1035}$`)
const qualifiedPattern = new RegExp(`^${qualified}$`)
const labelValuePattern = new RegExp(`^${labelValue}$`)
const configKeyPattern = new RegExp(`^${configKey}$`)
const printableAscii = /^[\x20-\x3c\x3e-\x7e]*$/

const jsonSchemas: Readonly<Record<StringFormat, FormatSchema>> = {
  'dns1123-label': { maxLength: dns1123LabelMax, pattern: `^${label}$` },
  'dns1123-subdomain': { maxLength: dns1123SubdomainMax, pattern: `^${subdomain}$` },
  'dns1035-label': { maxLength: dns1035LabelMax, pattern: `^${dns1035}$` },
  'qualified-name': {
    anyOf: [
      { maxLength: qualifiedNameMax, pattern: `^${qualified}$` },
      {
        pattern: `^${subdomain}/${qualified}$`,
        allOf: [{ pattern: `^[^/]{1,${dns1123SubdomainMax}}/[^/]{1,${qualifiedNameMax}}$` }],
      },
    ],
  },
  'label-value': { maxLength: labelValueMax, pattern: `^${labelValue}$` },
  'env-var-name': { minLength: 1, pattern: printableAscii.source },
  'config-map-key': {
    maxLength: dns1123SubdomainMax,
    pattern: `^${configKey}$`,
    not: { pattern: '^(\\.$|\\.\\.)' },
  },
  ip: { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] },
  'absolute-path': { pattern: '^/' },
  'iana-service-name': {
    maxLength: ianaServiceNameMax,
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    allOf: [{ pattern: '[a-z]' }],
    not: { pattern: '--' },
  },
}

const checks: Readonly<Record<StringFormat, (value: string) => readonly string[]>> = {
  'dns1123-label': checkLabel,
  'dns1123-subdomain': checkSubdomain,
  'dns1035-label': checkDns1035,
  'qualified-name': checkQualifiedName,
  'label-value': checkLabelValue,
  'env-var-name': checkEnvVarName,
  'config-map-key': checkConfigMapKey,
  ip: checkIp,
  'absolute-path': (value) => (value.startsWith('/') ? [] : ['must be an absolute path']),
  'iana-service-name': checkServiceName,
}

function checkLabel(value: string): readonly string[] {
  const errors = value.length > dns1123LabelMax ? [maxLengthMessage(dns1123LabelMax)] : []
  if (labelPattern.test(value)) return errors
  if (subdomainPattern.test(value)) return [...errors, 'must not contain dots']
  const rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
  return [...errors, patternMessage(rule, label, 'my-name', '123-abc')]
}

function checkSubdomain(value: string): readonly string[] {
  return subdomainProblems(value, 'characters')
}

function subdomainProblems(value: string, unit: 'bytes' | 'characters'): readonly string[] {
  const errors = value.length > dns1123SubdomainMax ? [maxLengthMessage(dns1123SubdomainMax, unit)] : []
  if (subdomainPattern.test(value)) return errors
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
  return [...errors, patternMessage(rule, subdomain, 'example.com')]
}

function checkDns1035(value: string): readonly string[] {
  const errors = value.length > dns1035LabelMax ? [maxLengthMessage(dns1035LabelMax)] : []
  if (dns1035Pattern.test(value)) return errors
  const rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
  return [...errors, patternMessage(rule, dns1035, 'my-name', 'abc-123')]
}

const qualifiedMessage = patternMessage(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  qualified,
  'MyName',
  'my.name',
  '123-abc',
)

const wrongName: readonly string[] = [`name part ${qualifiedMessage}`]

function checkQualifiedName(value: string): readonly string[] {
  if (value.length <= qualifiedNameMax) {
    if (qualifiedPattern.test(value)) return []
    if (value !== '' && !value.includes('/')) return wrongName
  }
  const parts = value.split('/')
  const name = parts[parts.length - 1] ?? ''
  if (parts.length > 2) {
    return [
      `a valid label key ${qualifiedMessage} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const errors: string[] = []
  const prefix = parts.length === 2 ? parts[0] : undefined
  if (prefix === '') errors.push('prefix part must be non-empty')
  else if (prefix !== undefined) errors.push(...subdomainProblems(prefix, 'bytes').map((each) => `prefix part ${each}`))
  if (name === '') errors.push('name part must be non-empty')
  else if (name.length > qualifiedNameMax) errors.push(`name part ${maxLengthMessage(qualifiedNameMax, 'bytes')}`)
  if (!qualifiedPattern.test(name)) errors.push(...wrongName)
  return errors
}

const labelValueMessage = patternMessage(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelValue,
  'MyValue',
  'my_value',
  '12345',
)

function checkLabelValue(value: string): readonly string[] {
  const errors = value.length > labelValueMax ? [maxLengthMessage(labelValueMax, 'bytes')] : []
  return labelValuePattern.test(value) ? errors : [...errors, labelValueMessage]
}

/** The relaxed rule that holds since v1.34: https://kep.k8s.io/4369. */
function checkEnvVarName(value: string): readonly string[] {
  if (value === '') return ['environment variable name must be non-empty']
  if (printableAscii.test(value)) return []
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
}

function checkConfigMapKey(value: string): readonly string[] {
  const errors = value.length > dns1123SubdomainMax ? [maxLengthMessage(dns1123SubdomainMax)] : []
  if (!configKeyPattern.test(value)) {
    const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    errors.push(patternMessage(rule, configKey, 'key.name', 'KEY_NAME', 'key-name'))
  }
  if (value === '.' || value === '..') errors.push(`must not be '${value}'`)
  else if (value.startsWith('..')) errors.push("must not start with '..'")
  return errors
}

function checkIp(value: string): readonly string[] {
  // Zones (fe80::1%eth0) mean something on one machine only.
  if (isIP(value) !== 0 && !value.includes('%')) {
    return isMappedIp(value) ? ['must not be an IPv4-mapped IPv6 address'] : []
  }
  if (!value.includes('%') && isIP(withoutLeadingZeros(value)) !== 0) return ['must not have leading 0s']
  return ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
}

const mappedRange = new BlockList()
mappedRange.addSubnet('::ffff:0:0', 96, 'ipv6')

/** Whether an address of IPv6 only stands for one of IPv4: those of ::ffff:0:0/96. */
const isMappedIp = (ip: string): boolean => isIP(ip) === 6 && mappedRange.check(ip, 'ipv6')

const withoutLeadingZeros = (ip: string): string => ip.replaceAll(/\b0+(?=\d)/g, '')

function checkServiceName(value: string): readonly string[] {
  const errors = value.length > ianaServiceNameMax ? [maxLengthMessage(ianaServiceNameMax)] : []
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)')
  if (value.includes('--')) errors.push('must not contain consecutive hyphens')
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

const maskTrailingDash = (name: string): string =>
  name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name
