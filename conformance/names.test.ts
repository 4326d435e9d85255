import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerTo } from '../packages/dns/src/testing/messages.ts'
import { readName } from '../packages/dns/src/wire/name.ts'
import { headerBytes, rcodes } from '../packages/dns/src/wire/numbers.ts'
import { ownNumber } from '../packages/environment/src/testing/own-number.ts'
import { Containerd, needsContainerd } from '../packages/kubelet/src/testing/containerd.ts'
import { EngineDaemon, needsEngine } from '../packages/kubelet/src/testing/engine-daemon.ts'
import { testImage } from '../packages/kubelet/src/testing/test-images.ts'
import { Kubectl } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

// Pods of real container runtimes look up names, as those do whose manifests are written for any cluster.

interface Kind {
  readonly flag: 'cri' | 'docker'
  readonly lacking: string | undefined
  readonly needs: object
  start(): Promise<Containerd | EngineDaemon>
}

const lackingContainerd = await Containerd.probe()
const lackingDocker = await EngineDaemon.probe('docker')
const kinds: readonly Kind[] = [
  {
    flag: 'cri',
    lacking: lackingContainerd,
    needs: needsContainerd(lackingContainerd),
    start: () => Containerd.start(),
  },
  {
    flag: 'docker',
    lacking: lackingDocker,
    needs: needsEngine('docker', lackingDocker),
    start: () => EngineDaemon.start('docker'),
  },
]

/** The server of names that the host has, for this test: at a port that only root can have, of an address that nobody else takes. */
const elsewhereAddress = `127.53.${process.pid % 250}.${1 + (process.pid % 251)}`

let home: string
let runtime: Containerd | EngineDaemon
let program: Program
let kubectl: Kubectl
let elsewhere: Socket

const apply = (...objects: readonly object[]) =>
  kubectl.ok(['apply', '-f', '-'], { input: objects.map((object) => JSON.stringify(object)).join('\n---\n') })
const inPod = (script: string, name = 'client') => kubectl.ok(['exec', name, '--', 'sh', '-c', script])
const areReady = (...names: readonly string[]) =>
  kubectl.ok(['wait', '--for=condition=Ready', '--timeout=60s', ...names.map((name) => `pod/${name}`)])

const container = (command: readonly string[]) => ({ name: 'main', image: testImage, command })
const spec = (command: readonly string[]) => ({ terminationGracePeriodSeconds: 0, containers: [container(command)] })
const server = ['sh', '-c', 'mkdir /www && hostname > /www/index.html && httpd -f -p 8080 -h /www']
const pod = (name: string, command: readonly string[], more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { ...spec(command), ...more },
})
const service = (name: string, fields: object, namespace = 'default') => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: fields,
})
const http = [{ name: 'http', port: 80, targetPort: 8080 }]

/** The addresses that a pod is told a name has; none where it is told that there is none. */
async function addressesOf(name: string, type = 'A', from = 'client'): Promise<readonly string[]> {
  const { stdout } = await kubectl.run(['exec', from, '--', 'nslookup', `-type=${type}`, name])
  // The first is that of the server.
  return [...stdout.matchAll(/^Address(?: \d+)?:\s+(\S+)/gm)].slice(1).map(([, address = '']) => address)
}

for (const kind of kinds) {
  describe.skipIf(kind.lacking !== undefined)(`names of services, with ${kind.flag}`, kind.needs, () => itFinds(kind))
}

function itFinds({ flag, start }: Kind): void {
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'coracle-'))
    const resolvConf = join(home, 'resolv.conf')
    writeFileSync(resolvConf, `search outer.example\nnameserver ${elsewhereAddress}\n`)
    elsewhere = createSocket('udp4')
    elsewhere.on('message', (question, from) => {
      const isOuter = readName(question, headerBytes).name.endsWith('.outer.example')
      const answer = answerTo(question, isOuter ? { rcode: rcodes.nameError } : { addresses: ['203.0.113.9'] })
      elsewhere.send(answer, from.port, from.address)
    })
    elsewhere.bind(53, elsewhereAddress)
    await once(elsewhere, 'listening')
    runtime = await start()
    program = await Program.start({
      dataDir: join(home, 'data'),
      args: [
        ...['--runtime', flag, '--container-runtime-endpoint', runtime.endpoint],
        ...['--pod-logs-dir', join(home, 'logs'), '--resolv-conf', resolvConf],
        ...['--service-cluster-ip-range', `10.${(await ownNumber(19_113, 7)) - 19_000}.0.0/16`],
      ],
      env: { HOME: home },
    })
    kubectl = await Kubectl.in(program)
    await kubectl.ok(['create', 'namespace', 'other'])
    await apply(
      service('web', { selector: { app: 'web' }, ports: http }),
      service('far', { selector: { app: 'far' }, ports: http }, 'other'),
      service('db', { clusterIP: 'None', selector: { app: 'db' }, ports: http }),
      service('outside', { type: 'ExternalName', externalName: 'www.example' }),
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'db' },
        spec: {
          serviceName: 'db',
          replicas: 2,
          podManagementPolicy: 'Parallel',
          selector: { matchLabels: { app: 'db' } },
          template: { metadata: { labels: { app: 'db' } }, spec: spec(server) },
        },
      },
      pod('web', server),
      pod('client', ['sleep', '10000']),
      pod('host', ['sleep', '10000'], { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
      pod('plain', ['sleep', '10000'], { dnsPolicy: 'Default' }),
    )
    await kubectl.ok(['rollout', 'status', 'statefulset/db', '--timeout=60s'])
    await areReady('web', 'client', 'host', 'plain')
    // Pods are ready before those are told that services lead to them.
    await eventually('the service', async () => (await inPod('wget -qO- http://web')) === 'web\n')
    await eventually('the names of pods', async () => (await addressesOf('db.default.svc.cluster.local')).length === 2)
  })

  afterAll(async () => {
    await program?.end('SIGINT')
    await runtime?.[Symbol.asyncDispose]()
    elsewhere?.close()
    rmSync(home, { recursive: true, force: true })
  })

  const field = (path: string, ...what: readonly string[]) => kubectl.ok(['get', ...what, '-o', `jsonpath={${path}}`])
  const dnsAddress = () => field('.spec.clusterIP', '-n', 'kube-system', 'service', 'kube-dns')

  it('are looked up at a Service as kubeadm makes it', async () => {
    expect(await dnsAddress()).toMatch(/^10\.\d+\.0\.10$/)
    const listed = await kubectl.ok(['get', 'services', '-n', 'kube-system', '-l', 'k8s-app=kube-dns', '-o', 'name'])
    expect(listed).toBe('service/kube-dns\n')
    expect(await kubectl.ok(['cluster-info'])).toContain('CoreDNS is running at')
  })

  it('are what pods are told to look up', async () => {
    expect(await inPod('cat /etc/resolv.conf')).toBe(
      [
        'search default.svc.cluster.local svc.cluster.local cluster.local outer.example',
        `nameserver ${await dnsAddress()}`,
        'options ndots:5\n',
      ].join('\n'),
    )
    expect(await inPod('cat /etc/resolv.conf', 'host')).toContain(`nameserver ${await dnsAddress()}`)
    expect(await inPod('cat /etc/resolv.conf', 'plain')).toBe(`search outer.example\nnameserver ${elsewhereAddress}\n`)
  })

  it.each(['web', 'web.default', 'web.default.svc', 'web.default.svc.cluster.local', 'WEB.default.svc.cluster.local.'])(
    'lead a pod to a service: %s',
    async (name) => {
      expect(await inPod(`wget -qO- http://${name}`)).toBe('web\n')
      expect(await inPod(`wget -qO- http://${name}`, 'host')).toBe('web\n')
    },
  )

  it('lead a pod to the API', async () => {
    const address = await field('.spec.clusterIP', 'service', 'kubernetes')
    for (const name of ['kubernetes.default', 'kubernetes.default.svc'])
      expect(await inPod(`ping -c 1 -w 1 ${name} || true`)).toContain(`PING ${name} (${address})`)
  })

  it('have the address of the service', async () => {
    const address = await field('.spec.clusterIP', 'service', 'web')
    expect(await addressesOf('web.default.svc.cluster.local')).toEqual([address])
    expect(await addressesOf('far.other.svc.cluster.local')).toEqual([
      await field('.spec.clusterIP', '-n', 'other', 'service', 'far'),
    ])
    const reverse = await inPod(`nslookup ${address}`)
    expect(reverse).toContain('name = web.default.svc.cluster.local')
  })

  it('are those of the pods of a StatefulSet, each and all', async () => {
    expect(await inPod('wget -qO- http://db-0.db:8080; wget -qO- http://db-1.db.default.svc.cluster.local:8080')).toBe(
      'db-0\ndb-1\n',
    )
    const addresses = await field('.items[*].status.podIP', 'pods', '-l', 'app=db')
    expect([...(await addressesOf('db.default.svc.cluster.local'))].sort()).toEqual(addresses.split(' ').sort())
  })

  it('are those of a pod with a hostname and a subdomain, and it knows its own', async () => {
    const named = { hostname: 'north', subdomain: 'db', setHostnameAsFQDN: true }
    await apply({ ...pod('named', server, named), metadata: { name: 'named', labels: { app: 'db' } } })
    await areReady('named')
    const address = await field('.status.podIP', 'pod', 'named')
    const name = 'north.db.default.svc.cluster.local'
    await eventually('its name is there', async () => (await addressesOf(name))[0] === address)
    expect(await inPod('hostname', 'named')).toBe(`${name}\n`)
    expect(await inPod(`nslookup ${address}`)).toContain(`name = ${name}`)
    await kubectl.ok(['delete', 'pod', 'named'])
    await eventually('its name is gone', async () => (await addressesOf(name)).length === 0)
  })

  it('have ports', async () => {
    const { stdout } = await kubectl.run([
      ...['exec', 'client', '--', 'nslookup', '-type=SRV', '_http._tcp.db.default.svc.cluster.local'],
    ])
    expect(stdout.match(/service = .*/g)?.toSorted()).toEqual([
      'service = 0 50 8080 db-0.db.default.svc.cluster.local',
      'service = 0 50 8080 db-1.db.default.svc.cluster.local',
    ])
  })

  it('come and go with services', async () => {
    expect(await addressesOf('late.default.svc.cluster.local')).toEqual([])
    await apply(service('late', { selector: { app: 'web' }, ports: http }))
    await eventually(
      'the name is there',
      async () => (await addressesOf('late.default.svc.cluster.local')).length === 1,
    )
    // The name is there before the proxy leads anywhere.
    await eventually('an answer', async () => (await inPod('wget -qO- http://late')) === 'web\n')
    await kubectl.ok(['delete', 'service', 'late'])
    await eventually('the name is gone', async () => (await addressesOf('late.default.svc.cluster.local')).length === 0)
  })

  it('of others are asked of the servers that the host has', async () => {
    // A datagram, or who answers it, may be late: whoever looks names up asks again.
    for (const name of ['www.example', 'outside.default.svc.cluster.local']) {
      const answered = async () => {
        const found = await addressesOf(name)
        return found.length > 0 && found
      }
      expect(await eventually(`an answer about ${name}`, answered)).toEqual(['203.0.113.9'])
    }
  })

  it('are those of others as long as the service says so', async () => {
    const change = (fields: object) =>
      kubectl.ok(['patch', 'service', 'outside', '-p', JSON.stringify({ spec: fields })])
    await change({ type: 'ClusterIP', ports: http })
    const address = await field('.spec.clusterIP', 'service', 'outside')
    await eventually('it has an address', async () => {
      const [found] = await addressesOf('outside.default.svc.cluster.local')
      return found === address
    })
  })

  it('are looked up as a pod says', async () => {
    const dnsConfig = {
      nameservers: [elsewhereAddress],
      searches: ['shop.example'],
      options: [{ name: 'ndots', value: '2' }],
    }
    await apply(
      pod('own', ['sleep', '10000'], { dnsPolicy: 'None', dnsConfig }),
      pod('more', ['sleep', '10000'], { dnsConfig: { searches: dnsConfig.searches, options: dnsConfig.options } }),
    )
    await areReady('own', 'more')
    expect(await inPod('cat /etc/resolv.conf', 'own')).toBe(
      `search shop.example\nnameserver ${elsewhereAddress}\noptions ndots:2\n`,
    )
    const more = await inPod('cat /etc/resolv.conf', 'more')
    expect(more).toContain('cluster.local outer.example shop.example\n')
    expect(more).toContain('options ndots:2\n')
  })

  it('are answered by whoever is behind the Service, as long as somebody is', async () => {
    const address = await dnsAddress()
    const slice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'own-dns', namespace: 'kube-system', labels: { 'kubernetes.io/service-name': 'kube-dns' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [elsewhereAddress] }],
      ports: [{ name: 'dns', port: 53, protocol: 'UDP' }],
    }
    await apply(slice)
    await eventually('the other server answers', async () => {
      const [found] = await addressesOf('web.default.svc.cluster.local')
      return found === '203.0.113.9'
    })
    await kubectl.ok(['delete', 'endpointslice', '-n', 'kube-system', 'own-dns'])
    const web = await field('.spec.clusterIP', 'service', 'web')
    await eventually('this program answers again', async () => {
      const [found] = await addressesOf('web.default.svc.cluster.local')
      return found === web
    })
    expect(await dnsAddress()).toBe(address)
  })

  it('are looked up as the host does where the Service is gone, which a pod that asks for them is told', async () => {
    await kubectl.ok(['delete', 'service', '-n', 'kube-system', 'kube-dns'])
    await eventually('nobody answers', async () => (await addressesOf('web.default.svc.cluster.local')).length === 0)
    await apply(pod('late', ['sleep', '10000']))
    await areReady('late')
    expect(await inPod('cat /etc/resolv.conf', 'late')).toBe(`search outer.example\nnameserver ${elsewhereAddress}\n`)
    const event = () => field('.items[*].message', 'events', '--field-selector', 'reason=MissingClusterDNS')
    await eventually('an event', async () => (await event()).includes('Falling back to "Default" policy.'))
  })
}
