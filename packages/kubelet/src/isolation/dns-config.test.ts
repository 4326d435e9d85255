import type { PodSpec } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { testPod } from '../testing/pods.ts'
import { type DnsProblem, podDns } from './dns-config.ts'

const node = `# a comment
nameserver 1.1.1.1
nameserver 2.2.2.2
search old.example
search one.example. two.example
options timeout:1 rotate
`
const cluster = { servers: ['10.96.0.10'], domain: 'cluster.local' }
const nodes = {
  servers: ['1.1.1.1', '2.2.2.2'],
  searches: ['one.example', 'two.example'],
  options: ['timeout:1', 'rotate'],
}
const clusters = {
  servers: ['10.96.0.10'],
  searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'one.example', 'two.example'],
  options: ['ndots:5'],
}

const dns = (spec: Partial<PodSpec>, servers = cluster.servers) => podDns(testPod(spec), node, { ...cluster, servers })

describe('how a pod looks up names', () => {
  it.each([
    ['by the cluster', {}, clusters],
    ['by the cluster, if it says so', { dnsPolicy: 'ClusterFirst' }, clusters],
    ['by the node', { dnsPolicy: 'Default' }, nodes],
    ['by the node on its network', { hostNetwork: true }, nodes],
    ['by the cluster on its network', { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }, clusters],
    [
      'as it says itself',
      { dnsPolicy: 'None', dnsConfig: { nameservers: ['9.9.9.9'] } },
      { servers: ['9.9.9.9'], searches: [], options: [] },
    ],
  ] as const)('%s', (_, spec, expected) => {
    expect(dns(spec as Partial<PodSpec>)).toEqual(expected)
  })

  it('is as the node does where the cluster has no servers', () => {
    expect(dns({}, [])).toEqual(nodes)
  })

  it('adds what the pod adds, and its options go first', () => {
    const dnsConfig = {
      nameservers: ['1.1.1.1', '9.9.9.9', '8.8.8.8'],
      searches: ['two.example', 'three.example'],
      options: [{ name: 'timeout', value: '3' }, { name: 'edns0' }],
    }
    expect(dns({ dnsPolicy: 'Default', dnsConfig })).toEqual({
      servers: ['1.1.1.1', '2.2.2.2', '9.9.9.9'],
      searches: ['one.example', 'two.example', 'three.example'],
      options: ['timeout:3', 'rotate', 'edns0'],
    })
  })

  it('leaves out search domains that a resolver would not take', () => {
    const searches = Array.from({ length: 40 }, (_, index) => `${'x'.repeat(60)}.${index}`)
    const found = dns({ dnsPolicy: 'Default', dnsConfig: { searches } }).searches
    expect(found.join(' ').length).toBeLessThanOrEqual(2048)
    expect(found.length).toBeLessThanOrEqual(32)
    expect(found.length).toBeGreaterThan(25)
  })

  describe('is told where it is not all that was asked for', () => {
    const told = (spec: Partial<PodSpec>, resolvConf = node) => {
      const problems: DnsProblem[] = []
      const found = podDns(testPod(spec), resolvConf, cluster, (problem) => problems.push(problem))
      return { found, problems }
    }

    it('of servers', () => {
      const dnsConfig = { nameservers: ['9.9.9.9', '8.8.8.8'] }
      expect(told({ dnsPolicy: 'Default', dnsConfig }).problems).toEqual([
        {
          reason: 'DNSConfigForming',
          message:
            'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.1.1.1 2.2.2.2 9.9.9.9',
        },
      ])
    })

    it('of search domains, of which those alone go that are too long by themselves', () => {
      const dnsConfig = { searches: ['x'.repeat(254), 'three.example'] }
      const { found, problems } = told({ dnsPolicy: 'Default', dnsConfig })
      expect(found.searches).toEqual(['one.example', 'two.example', 'three.example'])
      expect(problems).toEqual([
        {
          reason: 'DNSConfigForming',
          message:
            'Search Line limits were exceeded, some search paths have been omitted, the applied search line is: one.example two.example three.example',
        },
      ])
    })

    it('and is not where all is', () => {
      expect(told({}).problems).toEqual([])
    })
  })

  it.each([
    ['search .', [], []],
    ['search . one. two', ['one', 'two'], []],
    ['options ndots:5 ndots:4', [], ['ndots:4']],
    ['options timeout:1 rotate\noptions timeout:2 edns0', [], ['timeout:2', 'rotate', 'edns0']],
    ['# search none', [], []],
  ])('takes of a node that says %j', (resolvConf, searches, options) => {
    expect(podDns(testPod({ dnsPolicy: 'Default' }), resolvConf, cluster)).toMatchObject({ searches, options })
  })
})
