import { describe, expect, it } from 'vitest'
import { compileCel } from '../program.ts'
import { types } from '../types.ts'

/** What an expression gives for a text `t`, or why it gives nothing. */
function evaluated(expression: string, t: string): unknown {
  const compiled = compileCel(expression, new Map([['t', types.string]]))
  if ('problem' in compiled) throw new Error(String(compiled.problem))
  const result = compiled.program.run(new Map([['t', t]]), 1_000_000)
  return 'value' in result ? result.value : result.error
}

describe('addresses', () => {
  it.each(['::ffff:1.2.3.4', '::FFFF:1.2.3.4', '::ffff:102:304', '0:0:0:0:0:ffff:1.2.3.4'])(
    'of IPv4 within IPv6 are none: %s',
    (text) => {
      expect(evaluated('isIP(t)', text)).toBe(false)
      expect(evaluated('isCIDR(t)', `${text}/120`)).toBe(false)
      expect(evaluated('ip(t).family()', text)).toBe(`IPv4-mapped IPv6 address "${text}" is not allowed`)
    },
  )

  it('may have IPv4 at their end otherwise, and no zone', () => {
    expect(evaluated('string(ip(t))', '::1.2.3.4')).toBe('::102:304')
    expect(evaluated('ip(t).family()', 'fe80::1%eth0')).toBe('IP address "fe80::1%eth0" with zone value is not allowed')
  })

  it.each([
    ['ff02::1', true],
    ['ff12::1', true],
    ['ff05::1', false],
  ])('are of a link for many, whatever flags they have: %s', (text, expected) => {
    expect(evaluated('ip(t).isLinkLocalMulticast()', text)).toBe(expected)
  })
})

describe('URLs as Go reads what is asked of a server', () => {
  it.each([
    ['https://example.com/a b', true],
    ['/a?x=%zz', true],
    ['*', true],
    ['mailto:x', true],
    ['https://[::1]:80/', true],
    ['https://a:b:c/', false],
    ['../relative', false],
    ['', false],
    ['https://ho st/', false],
    ['https://[zz]/', false],
    ['https://[::1', false],
    ['/%zz', false],
    ['/a\nb', false],
  ])('%j: %j', (text, expected) => {
    expect(evaluated('isURL(t)', text)).toBe(expected)
  })

  it.each([
    ['getEscapedPath', 'https://e/\u00e9 b/%2f', '/%C3%A9%20b//'],
    ['getEscapedPath', 'https://e/a%20b(c)', '/a%20b(c)'],
    ['getEscapedPath', '/a#b', '/a'],
    ['getEscapedPath', '*', '*'],
    ['getEscapedPath', 'mailto:x', ''],
    ['getHost', '//host/path', 'host'],
    ['getEscapedPath', '//host/path', '/path'],
    ['getHostname', 'https://[fe80::1%25en0]:80/', 'fe80::1%en0'],
    ['getPort', 'https://h:/', ''],
    ['getHost', 'HTTP://user:pw@h:8/', 'h:8'],
    ['getScheme', 'HTTP://h', 'http'],
  ])('%s of %s', (method, text, expected) => {
    expect(evaluated(`url(t).${method}()`, text)).toBe(expected)
  })

  it('pass over what no query is', () => {
    const query = "url(t).getQuery() == {'d': ['x y', 'z'], '': ['e'], 'f': ['']}"
    expect(evaluated(query, '/p?a=1;b=2&c=%zz&d=x+y&d=z&=e&f')).toBe(true)
  })

  it('are told why they are none', () => {
    expect(evaluated('url(t).getHost()', 'x')).toBe(
      'URL parse error during conversion from string: parse "x": invalid URI for request',
    )
  })
})

describe('versions read leniently', () => {
  it.each([
    ['v1', true],
    ['01.02.003-alpha.1', true],
    ['v1.2-alpha', false],
    ['1.2+b', false],
    ['1.2-a.3', false],
    [' 1.0', false],
    ['', false],
    ['18446744073709551615.0.0', true],
    ['18446744073709551616.0.0', false],
    ['1.0.0-18446744073709551616', false],
  ])('%j: %j', (text, expected) => {
    expect(evaluated('isSemver(t, true)', text)).toBe(expected)
  })
})

it.each([
  ['dns1123LabelPrefix', 'a-', true],
  ['dns1123Label', 'a-', false],
  ['dns1123SubdomainPrefix', 'a.b-', true],
  ['dns1035LabelPrefix', 'a-', true],
  ['dns1035LabelPrefix', '1a-', false],
])('has the format %s: %s', (name, text, isValid) => {
  expect(evaluated(`!format.${name}().validate(t).hasValue()`, text)).toBe(isValid)
  expect(evaluated(`!format.named('${name}').value().validate(t).hasValue()`, text)).toBe(isValid)
})

// What Go's net/netip says, as Kubernetes passes it on.
describe('what is no address or network is told of as Go does', () => {
  const address = (text: string, problem: string): string =>
    `IP Address "${text}" parse error during conversion from string: ParseAddr("${text}"): ${problem}`

  it.each([
    ['', 'unable to parse IP'],
    ['%eth0', 'missing IPv6 address'],
    ['1.2.3', 'IPv4 address too short'],
    ['192.168.0.1.0', 'IPv4 address too long'],
    ['10.0.0.01', 'IPv4 field has octet with leading zero'],
    ['10.0.0.256', 'IPv4 field has value >255'],
    ['127.0.0.', 'IPv4 field must have at least one digit (at ".")'],
    ['1.0.0.:1', 'unexpected character (at ":1")'],
    ['::1%', 'zone must be a non-empty string'],
    ['fe807:1', 'each group must have 4 or less digits (at "fe807:1")'],
    ['2001:db8:::68', 'each colon-separated field must have at least one digit (at ":68")'],
    ['1::2::3', 'multiple :: in address (at ":3")'],
    ['200M:db8::68', 'unexpected character, want colon (at "M:db8::68")'],
    ['1:2:', 'colon must be followed by more characters (at ":")'],
    ['1:2:3', 'address string too short'],
    ['1:2:3:4:5:6:7:8:9', 'trailing garbage after address (at "9")'],
    ['1:2:3:4:5:6:7::8', 'the :: must expand to at least one field of zeros'],
    ['1:1.2.3.4', 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'],
  ])('%j', (text, problem) => {
    expect(evaluated('ip(t)', text)).toBe(address(text, problem))
  })

  it.each([
    ['10.0.0.0', 'netip.ParsePrefix("10.0.0.0"): no \'/\''],
    ['10.0.0/8', 'netip.ParsePrefix("10.0.0/8"): ParseAddr("10.0.0"): IPv4 address too short'],
    ['10.0.0.0/', 'netip.ParsePrefix("10.0.0.0/"): bad bits after slash: ""'],
    ['10.0.0.0/08', 'netip.ParsePrefix("10.0.0.0/08"): bad bits after slash: "08"'],
    ['10.0.0.0/33', 'netip.ParsePrefix("10.0.0.0/33"): prefix length out of range'],
    ['fe80::1%en0/24', 'netip.ParsePrefix("fe80::1%en0/24"): IPv6 zones cannot be present in a prefix'],
  ])('%j', (text, problem) => {
    const twice = 'network address parse error during conversion from string: '.repeat(2)
    expect(evaluated('cidr(t)', text)).toBe(twice + problem)
  })

  it('as are addresses of IPv4 in IPv6', () => {
    expect(evaluated('cidr(t)', '::ffff:192.168.0.1/24')).toBe(
      'network address parse error during conversion from string: IPv4-mapped IPv6 address "::ffff:192.168.0.1/24" is not allowed',
    )
  })
})
