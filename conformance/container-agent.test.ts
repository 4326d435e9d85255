import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Containerd, needsContainerd } from '../packages/kubelet/src/testing/containerd.ts'
import { EngineDaemon, needsEngine } from '../packages/kubelet/src/testing/engine-daemon.ts'
import { testImage } from '../packages/kubelet/src/testing/test-images.ts'
import { ownPorts } from '../packages/store/src/testing/own-ports.ts'
import { AgentProcess, type Machine, machine } from './support/agent-process.ts'
import { Kubectl } from './support/kubectl.ts'
import { eventually, Program, run } from './support/program.ts'

// A machine with a container runtime joins a cluster whose own node runs processes: pods of both kinds are in one cluster.

interface Kind {
  readonly flag: 'cri' | 'docker'
  /** Of `containerRuntimeVersion`. */
  readonly scheme: string
  readonly lacking: string | undefined
  readonly needs: object
  start(prefix: readonly string[]): Promise<Containerd | EngineDaemon>
}

const lackingContainerd = await Containerd.probe()
const lackingDocker = await EngineDaemon.probe('docker')
const kinds: readonly Kind[] = [
  {
    flag: 'cri',
    scheme: 'containerd://',
    lacking: lackingContainerd,
    needs: needsContainerd(lackingContainerd),
    start: (prefix) => Containerd.start(prefix),
  },
  {
    flag: 'docker',
    scheme: 'docker://',
    lacking: lackingDocker,
    needs: needsEngine('docker', lackingDocker),
    start: (prefix) => EngineDaemon.start('docker', prefix),
  },
]

const nodeName = 'far'
const serviceRange = '10.112.0.0/16'
const tokenDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

let there: Machine
let directory: string
let runtime: Containerd | EngineDaemon
let program: Program
let kubectl: Kubectl
let agent: AgentProcess

const agentArgs = (flag: Kind['flag']) => [
  ...['--hostname-override', nodeName, '--data-dir', join(directory, 'agent')],
  ...['--runtime', flag, '--container-runtime-endpoint', runtime.endpoint, '--eviction-hard', ''],
  ...['--pod-logs-dir', join(directory, 'logs'), '--image-gc-high-threshold', '100'],
]

const onNode = (name: string) => ({ 'kubernetes.io/hostname': name })
const quick = { terminationGracePeriodSeconds: 1 }

/** A pod that answers by HTTP: a process, where the image is only a name. */
const processPod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web' } },
  spec: {
    ...quick,
    nodeSelector: onNode('node-0'),
    containers: [
      {
        name: 'main',
        image: 'none',
        command: [
          process.execPath,
          '-e',
          `require('node:http').createServer((_, response) => response.end('process')).listen(8080, process.env.CORACLE_POD_IP)`,
        ],
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1, timeoutSeconds: 30 },
      },
    ],
  },
})

/** What of this host it takes to run its Node in a container. */
const hostPaths = ['/usr', '/lib', '/lib64', dirname(process.execPath)].filter((path) => existsSync(path))

/** The same of a container, in which the host's Node can be run. */
const containerPod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web' } },
  spec: {
    ...quick,
    nodeSelector: onNode(nodeName),
    volumes: hostPaths.map((path, index) => ({ name: `host-${index}`, hostPath: { path } })),
    containers: [
      {
        name: 'main',
        image: testImage,
        command: ['sh', '-c', 'mkdir /www && echo -n container > /www/index.html && httpd -f -p 8080 -h /www'],
        volumeMounts: hostPaths.map((mountPath, index) => ({ name: `host-${index}`, mountPath, readOnly: true })),
        readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 1, timeoutSeconds: 30 },
      },
    ],
  },
})

const apply = (...objects: readonly object[]) =>
  kubectl.ok(['apply', '-f', '-'], { input: objects.map((object) => JSON.stringify(object)).join('\n---\n') })
const areReady = (...names: readonly string[]) =>
  kubectl.ok(['wait', '--for=condition=Ready', '--timeout=60s', ...names.map((name) => `pod/${name}`)])
const field = (path: string, ...what: readonly string[]) => kubectl.ok(['get', ...what, '-o', `jsonpath={${path}}`])
const serviceAddress = () => field('.spec.clusterIP', 'service', 'web')
const inContainer = (script: string) => kubectl.ok(['exec', 'container', '--', 'sh', '-c', script])

/** What answers on a machine at an address, over connections of their own. */
async function answersOf(prefix: readonly string[], address: string): Promise<ReadonlySet<string>> {
  const script = `(async () => {
    for (let turn = 0; turn < 20; turn += 1)
      console.log(await (await fetch('http://${address}', { headers: { connection: 'close' } })).text())
  })()`
  const [command = '', ...args] = [...prefix, process.execPath, '-e', script]
  const { code, stdout, stderr } = await run(command, args)
  if (code !== 0) throw new Error(stderr)
  return new Set(stdout.trim().split('\n'))
}

for (const kind of kinds) {
  describe.skipIf(kind.lacking !== undefined)(`a machine with ${kind.flag}`, kind.needs, () => itJoins(kind))
}

function itJoins({ flag, scheme, start }: Kind): void {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'coracle-'))
    there = await machine(`c${flag.charAt(0)}a${process.pid}`)
    if (!there.isApart) throw new Error('this machine has no networks for others')
    runtime = await start(there.networkPrefix)
    const [port = 0] = await ownPorts(1)
    program = await Program.start({
      alone: true,
      dataDir: join(directory, 'server'),
      args: [
        ...['--runtime', 'process', '--service-cluster-ip-range', serviceRange],
        ...['--listen', '0.0.0.0', '--port', String(port)],
      ],
    })
    kubectl = await Kubectl.in(program)
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    }
    // Nobody knows yet of a node that isolates.
    const early = { ...containerPod('early'), metadata: { name: 'early' } }
    await apply(service, early)
    const joining = await program.coracle(['token', 'create', '--print-join-command'])
    const [, token = '', hash = ''] = /--token (\S+) --discovery-token-ca-cert-hash (\S+)/.exec(joining.stdout) ?? []
    const way = [`https://${there.serverAddress}:${port}`, '--token', token, '--discovery-token-ca-cert-hash', hash]
    agent = await AgentProcess.start(there, [...way, ...agentArgs(flag)])
    await apply(processPod('process'), containerPod('container'))
    await areReady('process', 'container', 'early')
  })

  afterAll(async () => {
    await kubectl?.run(['delete', 'pod', '--all', '--timeout=30s'])
    await agent?.end('SIGTERM')
    await program?.[Symbol.asyncDispose]()
    await runtime?.[Symbol.asyncDispose]()
    await there?.[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true, force: true })
  })

  it('says what runs its containers, and runs them', async () => {
    expect(await field('.status.nodeInfo.containerRuntimeVersion', 'node', nodeName)).toContain(scheme)
    expect(await inContainer('cat /etc/hostname')).toBe('container\n')
    expect(await runtime.containers()).toHaveLength(4)
  })

  it.each([
    ["the server's machine", () => []],
    ["the agent's machine", () => there.prefix],
  ])('has its pods behind services with those of others, asked on %s', async (_, prefix) => {
    const address = await serviceAddress()
    await eventually('pods of both answer', async () => (await answersOf(prefix(), address)).size === 2)
  })

  it('has its pods reach services, and by them pods of others', async () => {
    const ask = `wget -qO- http://${await serviceAddress()}; echo`
    const answers = new Set<string>()
    await eventually('pods of both answer', async () => {
      for (const line of (await inContainer(`${ask}; ${ask}; ${ask}; ${ask}`)).trim().split('\n')) answers.add(line)
      return answers.size === 2
    })
    expect([...answers].sort()).toEqual(['container', 'process'])
  })

  it('has its pods find services by their names', async () => {
    const answers = new Set<string>()
    await eventually('pods of both answer', async () => {
      answers.add(await inContainer('wget -qO- http://web.default'))
      return answers.size === 2
    })
    expect(await field('.spec.clusterIP', 'service', '-n', 'kube-system', 'kube-dns')).toBe('10.112.0.10')
  })

  it('gives its pods what it takes to call the API, as client libraries do', async () => {
    await kubectl.ok(['create', 'rolebinding', 'viewer', '--clusterrole=view', '--serviceaccount=default:default'])
    const call = `
      const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, CA: ca, TOKEN } = process.env
      const path = '/api/v1/namespaces/default/services/web'
      require('node:https').get({ host, port, path, ca, headers: { authorization: 'Bearer ' + TOKEN } }, (answer) => {
        process.stdout.write(answer.statusCode + ' ')
        answer.setEncoding('utf8').on('data', (text) => process.stdout.write(text))
      })`
    const variables = `CA="$(cat ${tokenDirectory}/ca.crt)" TOKEN="$(cat ${tokenDirectory}/token)"`
    const node = `${process.execPath} -e '${call.replaceAll("'", '"')}'`
    const [code, body = ''] = (await inContainer(`${variables} ${node}`)).split(/ (.*)/s)
    expect(code).toBe('200')
    expect(JSON.parse(body).metadata.name).toBe('web')
  })

  it('has pods from before without it, and those of processes have it where client libraries look for it', async () => {
    expect(await field('.spec.volumes[*].name', 'pod', 'early')).not.toContain('kube-api-access')
    const { stdout } = await kubectl.run(['exec', 'process', '--', 'cat', `${tokenDirectory}/namespace`])
    expect(stdout).toBe('default')
  })

  it('has volumes of claims that its pods are the first to use', async () => {
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    const main = {
      name: 'main',
      image: testImage,
      command: ['sh', '-c', 'echo kept > /data/file'],
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    }
    const spec = {
      restartPolicy: 'Never',
      nodeSelector: onNode(nodeName),
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      containers: [main],
    }
    await apply(claim, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'writer' }, spec })
    await kubectl.ok(['wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/writer', '--timeout=60s'])
    const volume = await field('.spec.volumeName', 'pvc', 'data')
    const path = join(directory, 'agent', 'kubelet', nodeName, 'volumes', volume)
    expect(readFileSync(join(path, 'file'), 'utf8')).toBe('kept\n')
    await kubectl.ok(['delete', 'pod/writer', 'pvc/data'])
    await eventually('it is gone', async () => !existsSync(path))
  })

  it('leaves its containers to run when its agent is killed, which takes them up again', async () => {
    const id = () => field('.status.containerStatuses[0].containerID', 'pod', 'container')
    const before = await id()
    await agent.end('SIGKILL')
    agent = await AgentProcess.start(there, agentArgs(flag))
    await eventually('a command runs there again', async () => {
      const { code } = await kubectl.run(['exec', 'container', '--', 'true'])
      return code === 0
    })
    expect(await id()).toBe(before)
    expect(await field('.status.containerStatuses[0].restartCount', 'pod', 'container')).toBe('0')
    const address = await serviceAddress()
    await eventually('pods of both answer', async () => (await answersOf(there.prefix, address)).size === 2)
  })
}
