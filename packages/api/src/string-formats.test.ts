import { describe, expect, it } from 'vitest'
import type { StringFormat } from './schema/schema.ts'
import { checkFormat, checkName } from './string-formats.ts'

describe('checkFormat', () => {
  it.each<[StringFormat, string]>([
    ['dns1123-label', 'web-1'],
    ['dns1123-label', '1web'],
    ['dns1123-subdomain', 'web.example.com'],
    ['dns1035-label', 'web-1'],
    ['qualified-name', 'app'],
    ['qualified-name', 'example.com/My_Name.1'],
    ['label-value', ''],
    ['label-value', 'A_b.c'],
    ['env-var-name', 'MY ENV'],
    ['config-map-key', 'key.name_1'],
    ['ip', '10.9.8.7'],
    ['ip', '2001:db8::1'],
    ['absolute-path', '/var'],
    ['iana-service-name', 'http-1'],
  ])('accepts as %s %j', (format, value) => {
    expect(checkFormat(format, value)).toEqual([])
  })

  it.each<[StringFormat, string, readonly string[]]>([
    ['dns1123-label', 'a.b', ['must not contain dots']],
    [
      'dns1123-label',
      'Web_',
      [
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    ['dns1123-label', 'a'.repeat(64), ['must be no more than 63 characters']],
    [
      'dns1123-subdomain',
      'A',
      [
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'dns1035-label',
      '1a',
      [
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    ['qualified-name', '/x', ['prefix part must be non-empty']],
    [
      'qualified-name',
      '',
      [
        'name part must be non-empty',
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      'label-value',
      'a b',
      [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
    [
      'env-var-name',
      'A=B',
      ["a valid environment variable name must consist only of printable ASCII characters other than '='"],
    ],
    ['config-map-key', '..data', ["must not start with '..'"]],
    ['ip', '010.1.1.1', ['must not have leading 0s']],
    ['ip', '010.1.1.256', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['ip', 'fe80::1%eth0', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['absolute-path', 'var', ['must be an absolute path']],
    ['iana-service-name', '80', ['must contain at least one letter (a-z)']],
    ['iana-service-name', 'a--b-', ['must not contain consecutive hyphens', 'must not begin or end with a hyphen']],
  ])('refuses as %s %j', (format, value, messages) => {
    expect(checkFormat(format, value)).toEqual(messages)
  })
})

describe('checkName', () => {
  it('lets a prefix end in a dash', () => {
    expect(checkName('dns1123-subdomain', 'web-', true)).toEqual([])
    expect(checkName('dns1123-subdomain', 'web-')).toHaveLength(1)
  })

  it('keeps path segments apart from paths', () => {
    expect(checkName('path-segment', 'system:node:a')).toEqual([])
    expect(checkName('path-segment', '..')).toEqual(["may not be '..'"])
    expect(checkName('path-segment', 'a/b%')).toEqual(["may not contain '/'", "may not contain '%'"])
  })
})
