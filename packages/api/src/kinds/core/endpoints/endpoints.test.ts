import { describe, expect, it } from 'vitest'
import { columnNames, type Draft, problemsOfCreate, row } from '../../../../test/requests.ts'
import { endpoints } from './endpoints.ts'

describe('validation of endpoints', () => {
  it.each<readonly [string, Draft, readonly string[]]>([
    ['an address and a port', { addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }, []],
    ['nothing', {}, ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`']],
    [
      'addresses that cannot be reached',
      { addresses: [{ ip: '127.0.0.1' }], notReadyAddresses: [{ ip: 'web', hostname: 'a.b', nodeName: '-' }] },
      [
        'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'subsets[0].notReadyAddresses[0].ip: Invalid value: "web": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'subsets[0].notReadyAddresses[0].hostname: Invalid value: "a.b": must not contain dots',
        expect.stringMatching(
          /^subsets\[0\]\.notReadyAddresses\[0\]\.nodeName: Invalid value: "-": a lowercase RFC 1123 sub/,
        ),
        'subsets[0].notReadyAddresses[0].ip: Invalid value: "web": must be a valid IP address',
      ],
    ],
    [
      'an address on a node without a name',
      { addresses: [{ ip: '10.0.0.1', nodeName: '' }], ports: [{ port: 80 }] },
      [expect.stringMatching(/^subsets\[0\]\.addresses\[0\]\.nodeName: Invalid value: "": a lowercase RFC 1123 sub/)],
    ],
    [
      'ports without names',
      { addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }, { port: 0, name: 'b', protocol: 'ICMP' }] },
      [
        'subsets[0].ports[0].name: Required value',
        'subsets[0].ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'subsets[0].ports[1].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
      ],
    ],
  ])('says of %s', (_, subset, problems) => {
    expect(problemsOfCreate(endpoints, { subsets: [subset] })).toEqual(problems)
  })
})

describe('table of endpoints', () => {
  it('shows three of them', () => {
    expect(columnNames(endpoints)).toEqual({ shown: ['Name', 'Endpoints', 'Age'], wide: [] })
    const addresses = [{ ip: '10.0.0.1' }, { ip: 'fd00::2' }]
    const shown = (...subsets: readonly Draft[]) => row(endpoints, { subsets }, 0).Endpoints
    expect(shown()).toBe('<none>')
    expect(shown({ addresses })).toBe('10.0.0.1,fd00::2')
    expect(
      shown({
        addresses,
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ],
      }),
    ).toBe('10.0.0.1:80,[fd00::2]:80,10.0.0.1:81 + 1 more...')
  })
})
