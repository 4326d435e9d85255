import { describe, expect, it } from 'vitest'
import { hostsFile, processHostsFile, sharedHosts } from './hosts-file.ts'
import type { PodNames } from './pod-names.ts'

const pod = { hostname: 'web', hostAliases: [] }

it('names the pod, and what it adds', () => {
  const hostAliases = [{ ip: '1.2.3.4', hostnames: ['a.example', 'b.example'] }]
  const names = { hostname: 'web', hostAliases, ownNames: ['web.sub.ns.svc.cluster.local', 'web'] }
  const file = hostsFile(names, ['10.0.0.7'], undefined)
  expect(file).toMatch(
    /^# Kubernetes-managed hosts file\.\n127\.0\.0\.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n/,
  )
  expect(file).toContain('\n10.0.0.7\tweb.sub.ns.svc.cluster.local\tweb\n')
  expect(file).toMatch(/\n\n# Entries added by HostAliases\.\n1\.2\.3\.4\ta\.example\tb\.example\n$/)
})

it('is the node’s where the pod is on its network', () => {
  expect(hostsFile(pod, ['10.0.0.7'], '127.0.0.1 localhost me\n')).toBe(
    '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost me\n',
  )
})

describe('what processes have in common', () => {
  const service = '127.4.0.7\tdb.shop.svc.cluster.local\tdb.shop.svc\tdb.shop\tdb\n'

  it('is the names of their host, and those of services', () => {
    expect(sharedHosts('127.0.0.1 localhost\n# mine\n192.0.2.1\tnas\n', service)).toBe(
      `# The host.\n127.0.0.1 localhost\n# mine\n192.0.2.1\tnas\n\n# Services of the cluster.\n${service}`,
    )
  })

  it('is no section where there is nothing in it', () => {
    expect(sharedHosts('127.0.0.1 localhost', '')).toBe('# The host.\n127.0.0.1 localhost\n')
  })

  it('has localhost where the host does not say what that is', () => {
    expect(sharedHosts('', '')).toMatch(/^127\.0\.0\.1\tlocalhost\n::1\tlocalhost ip6-localhost/)
    expect(sharedHosts('192.0.2.1 nas\n', '')).toMatch(
      /^127\.0\.0\.1\tlocalhost\n[^#]*# The host\.\n192\.0\.2\.1 nas\n$/,
    )
    expect(sharedHosts('127.0.0.1 localhost\n', '')).not.toContain('::1')
  })

  it.each([
    ['a name of a service', '192.0.2.1 db nas # both\n', '192.0.2.1\tnas\n'],
    ['whatever its case', '192.0.2.1 DB nas\n', '192.0.2.1\tnas\n'],
    ['all names of a line', '192.0.2.1 db.shop db\n192.0.2.2 nas\n', '192.0.2.2 nas\n'],
    ['one of several', '192.0.2.1  nas db\tdisk\n', '192.0.2.1\tnas\tdisk\n'],
    ['a word in a comment', '192.0.2.1 nas # db\n', '192.0.2.1 nas # db\n'],
    ['part of a name', '192.0.2.1 db2 my-db db.example\n', '192.0.2.1 db2 my-db db.example\n'],
  ])('leaves names of the host to services of that name: %s', (_, nodeHosts, kept) => {
    const shown = sharedHosts(`127.0.0.1 localhost\n${nodeHosts}`, service)
    expect(shown).toBe(`# The host.\n127.0.0.1 localhost\n${kept}\n# Services of the cluster.\n${service}`)
  })

  it('leaves localhost to the host, whatever services are called', () => {
    const lines = '127.4.0.7\tlocalhost.shop\tlocalhost\n'
    expect(sharedHosts('127.0.0.1 localhost\n', lines)).toBe(
      '# The host.\n127.0.0.1 localhost\n\n# Services of the cluster.\n127.4.0.7\tlocalhost.shop\n',
    )
  })
})

describe('the file of a process', () => {
  const file = (names: PodNames, shared: string, hostNetwork = false) =>
    processHostsFile({ ...names, hostNetwork }, ['127.9.0.1'], shared)

  it('is that of its pod, and what it shares', () => {
    expect(file({ ...pod, ownNames: ['web.sub.shop.svc.cluster.local', 'web'] }, '# shared\n')).toBe(
      '# Kubernetes-managed hosts file.\n127.9.0.1\tweb.sub.shop.svc.cluster.local\tweb\n\n# shared\n',
    )
  })

  it('has all addresses of its pod, and all names that it adds', () => {
    const hostAliases = ['1.2.3.4', '5.6.7.8'].map((ip) => ({ ip, hostnames: ['a.example'] }))
    expect(processHostsFile({ hostname: 'web', hostAliases, hostNetwork: false }, ['127.9.0.1', 'fd00::1'], '')).toBe(
      '# Kubernetes-managed hosts file.\n127.9.0.1\tweb\nfd00::1\tweb\n\n' +
        '# Entries added by HostAliases.\n1.2.3.4\ta.example\n5.6.7.8\ta.example\n\n',
    )
  })

  it('does not name a pod that is on the network of the node', () => {
    expect(file(pod, '# shared\n', true)).toBe('# Kubernetes-managed hosts file (host network).\n\n# shared\n')
  })

  it.each([
    ['the name of the pod', pod, '127.4.0.7\tweb.shop\tweb\n', '127.4.0.7\tweb.shop\n'],
    ['whatever its case', pod, '192.0.2.1 WEB nas\n', '192.0.2.1\tnas\n'],
    ['also before a comment', pod, '192.0.2.1 nas web#mine\n', '192.0.2.1\tnas\n'],
    ['a longer name', pod, '127.4.0.7\tweb.shop\tmy-web\n', '127.4.0.7\tweb.shop\tmy-web\n'],
    [
      'a name that it adds',
      { hostname: 'me', hostAliases: [{ ip: '1.2.3.4', hostnames: ['a.example'] }] },
      '192.0.2.1 a.example axexample\n',
      '192.0.2.1\taxexample\n',
    ],
  ])('has each name once: %s', (_, names, shared, kept) => {
    const text = file(names, shared)
    expect(text.slice(text.lastIndexOf('\n\n') + 2)).toBe(kept)
  })

  it('leaves localhost as it is, whatever the pod adds', () => {
    const names = { hostname: 'me', hostAliases: [{ ip: '1.2.3.4', hostnames: ['localhost'] }] }
    expect(file(names, '127.0.0.1 localhost\n')).toMatch(/\n127\.0\.0\.1 localhost\n$/)
  })
})
