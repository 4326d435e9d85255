import { expect, it } from 'vitest'
import { hostsFile } from './hosts-file.ts'

it('names the pod, and what it adds', () => {
  const hostAliases = [{ ip: '1.2.3.4', hostnames: ['a.example', 'b.example'] }]
  const file = hostsFile(
    { hostname: 'web', hostAliases, fullHostname: 'web.sub.ns.svc.cluster.local' },
    ['10.0.0.7'],
    undefined,
  )
  expect(file).toMatch(/^# Kubernetes-managed hosts file\.\n127\.0\.0\.1\tlocalhost\n/)
  expect(file).toContain('\n10.0.0.7\tweb.sub.ns.svc.cluster.local\tweb\n')
  expect(file).toMatch(/\n\n# Entries added by HostAliases\.\n1\.2\.3\.4\ta\.example\tb\.example\n$/)
})

it('is the node’s where the pod is on its network', () => {
  expect(hostsFile({ hostname: 'web', hostAliases: [] }, ['10.0.0.7'], '127.0.0.1 localhost me\n')).toBe(
    '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost me\n',
  )
})
