import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownPorts } from '../packages/store/src/testing/own-ports.ts'
import { runHelm } from './support/helm.ts'
import { Kubectl, manifest } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

// Services of type LoadBalancer with the addresses of nodes: by kubectl and bytes where containers are processes, by Helm where they are simulated.

const addressesOfNodes = ['--load-balancer-addresses', 'nodes']

const server = `require('http').createServer((_, answer) => answer.end('hello')).listen(8080, process.env.POD_IP)`

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    containers: [
      {
        name: 'web',
        image: 'example/node',
        command: [process.execPath, '-e', server],
        env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
        ports: [{ containerPort: 8080 }],
        readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 1, timeoutSeconds: 30 },
      },
    ],
  },
}

const service = (name: string, port: number): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port, targetPort: 8080 }] },
})

const needsLinux = { meta: { needs: 'Linux' } }

describe.skipIf(process.platform !== 'linux')('a load balancer in front of processes', needsLinux, () => {
  let program: Program
  let kubectl: Kubectl
  let port: number
  beforeAll(async () => {
    ;[port = 0] = await ownPorts(1)
    program = await Program.start({ args: ['--memory', ...addressesOfNodes], alone: true })
    kubectl = await Kubectl.in(program)
    await kubectl.ok(['create', '-f', '-'], { input: manifest(pod, service('web', port)) })
    await kubectl.ok(['wait', 'pod/web', '--for=condition=Ready', '--timeout=50s'])
  })
  afterAll(() => program[Symbol.asyncDispose]())

  const addressOf = (name: string): Promise<string> =>
    kubectl.ok(['get', 'service', name, '-o', 'jsonpath={.status.loadBalancer.ingress[*].ip}'])

  it('is reached at its address and port', async () => {
    await kubectl.ok(['wait', 'service/web', '--for=jsonpath={.status.loadBalancer.ingress}', '--timeout=50s'])
    const address = await addressOf('web')
    expect(address).toBe('127.0.0.1')
    expect(await kubectl.ok(['get', 'services', 'web'])).toMatch(/web +LoadBalancer +127\.\S+ +127\.0\.0\.1 +/)
    let answer = ''
    await eventually('an answer', async () => {
      answer = await fetch(`http://${address}:${port}`).then((response) => response.text(), String)
      return answer === 'hello'
    })
    expect(answer).toBe('hello')
  })

  it('leaves one of the same port pending, which is told why, and gets it later', async () => {
    await kubectl.ok(['create', '-f', '-'], { input: manifest(service('late', port)) })
    await eventually('an event', async () =>
      (await kubectl.ok(['describe', 'service', 'late'])).includes(
        `Error syncing load balancer: port ${port}/TCP is taken by service default/web`,
      ),
    )
    expect(await kubectl.ok(['get', 'services', 'late'])).toContain('<pending>')
    await kubectl.ok(['delete', 'service', 'web', '--timeout=50s'])
    await eventually('the address', async () => (await addressOf('late')) === '127.0.0.1')
    await eventually('an answer', async () => {
      const answer = await fetch(`http://127.0.0.1:${port}`).then((response) => response.text(), String)
      return answer === 'hello'
    })
  })
})

const outer = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ internal, family }) => !internal && family === 'IPv4'),
)

describe.skipIf(process.platform !== 'linux' || !outer)(
  'nodes that other machines reach',
  { meta: { needs: 'Linux and a network' } },
  () => {
    it('say by which address, which is that of load balancers', async () => {
      const args = ['--memory', '--listen', '0.0.0.0', ...addressesOfNodes]
      await using program = await Program.start({ args, alone: true })
      const kubectl = await Kubectl.in(program)
      const path = '-o=jsonpath={.status.addresses[?(@.type=="ExternalIP")].address}'
      const address = await kubectl.ok(['get', 'node', 'node-0', path])
      expect(isIPv4(address) && !address.startsWith('127.')).toBe(true)
      const [port = 0] = await ownPorts(1)
      await kubectl.ok(['create', '-f', '-'], { input: manifest(service('web', port)) })
      await kubectl.ok(['wait', 'service/web', '--for=jsonpath={.status.loadBalancer.ingress}', '--timeout=50s'])
      expect(await kubectl.ok(['get', 'services', 'web', '-o=jsonpath={.status.loadBalancer.ingress[*].ip}'])).toBe(
        address,
      )
    })
  },
)

describe('a Helm chart with a load balancer, on simulated nodes', () => {
  const files: Readonly<Record<string, string>> = {
    'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
    'templates/service.yaml': `apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  type: LoadBalancer
  selector:
    app: {{ .Release.Name }}
  ports:
    - port: 80
`,
  }
  let home: string
  let program: Program
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'coracle-'))
    await mkdir(join(home, 'shop', 'templates'), { recursive: true })
    for (const [name, content] of Object.entries(files)) await writeFile(join(home, 'shop', name), content)
    program = await Program.start({ args: ['--memory', '--runtime', 'simulated', ...addressesOfNodes], alone: true })
  })
  afterAll(async () => {
    await program[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true })
  })

  it('is installed, and is gone when it is uninstalled', async () => {
    const installed = await runHelm(program, home, [
      'install',
      'shop',
      join(home, 'shop'),
      '--wait',
      '--timeout',
      '50s',
    ])
    expect(installed).toMatchObject({ code: 0, stderr: '' })
    const kubectl = await Kubectl.in(program)
    expect(await kubectl.ok(['get', 'services', 'shop'])).toMatch(/LoadBalancer +\S+ +10\.64\.0\.1 /)
    const removed = await runHelm(program, home, ['uninstall', 'shop', '--wait', '--timeout', '50s'])
    expect(removed).toMatchObject({ code: 0 })
    expect((await kubectl.run(['get', 'services', 'shop'])).code).toBe(1)
  })
})
