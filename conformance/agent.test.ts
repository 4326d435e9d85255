import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownPorts } from '../packages/store/src/testing/own-ports.ts'
import { AgentProcess, type Machine, machine } from './support/agent-process.ts'
import { Kubectl, type PodObject, rows } from './support/kubectl.ts'
import { isRunning, processesWith } from './support/processes.ts'
import { coracleFile, eventually, Program, run } from './support/program.ts'
import { tools } from './support/tools.ts'

// A node on another machine: the real program twice, joined by a token, and driven by kubectl.

let there: Machine
let directory: string
let program: Program
let kubectl: Kubectl
let agent: AgentProcess
let server: string
let hash: string
let serverArgs: readonly string[]

const nodeName = 'far'
const agentArgs = () => [
  '--hostname-override',
  nodeName,
  '--data-dir',
  join(directory, 'agent'),
  '--node-labels',
  'disk=ssd',
  '--pod-manifest-path',
  join(directory, 'manifests'),
  ...(there.isApart ? [] : ['--node-ip', there.address, '--no-service-proxy', '--port', '0']),
]

const web = `
  require('node:http')
    .createServer((request, response) => response.end(process.env.NODE))
    .listen(8080, process.env.CORACLE_POD_IP, () => console.log('listening on ' + process.env.NODE))`

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app: 'web' } },
          },
        ],
        containers: [
          {
            name: 'web',
            image: 'x',
            command: [process.execPath, '-e', web],
            env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
            readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1, timeoutSeconds: 30 },
          },
          {
            name: 'shell',
            image: 'x',
            stdin: true,
            stdinOnce: true,
            command: ['sh', '-c', 'while read line; do echo "got $line"; done; sleep 1d'],
          },
        ],
      },
    },
  },
}
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
}

const startServer = () => Program.start({ alone: true, dataDir: join(directory, 'server'), args: serverArgs })
const coracleOk = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await program.coracle(args)
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`)
  return stdout.trim()
}
interface FarPod extends Omit<PodObject, 'status'> {
  readonly status: {
    readonly containerStatuses?: readonly { readonly containerID: string; readonly restartCount: number }[]
  }
}
const farPods = async (): Promise<readonly FarPod[]> =>
  (await kubectl.list<FarPod>('pods', 'app=web')).filter(
    ({ spec, metadata }) => spec.nodeName === nodeName && metadata.deletionTimestamp === undefined,
  )
const aFarPod = async (): Promise<string> => (await farPods())[0]?.metadata.name ?? ''
const proxied = (path: string) => kubectl.ok(['get', '--raw', path])
const isReady = async (): Promise<boolean> =>
  (await kubectl.ok(['get', 'nodes'])).split('\n').some((line) => /^far +Ready /.test(line))

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coracle-agent-'))
  mkdirSync(join(directory, 'manifests'))
  there = await machine(`cor${process.pid}`)
  // One that is free again when the server comes back.
  const [port = 0] = await ownPorts(1)
  serverArgs = ['--runtime', 'process', '--listen', there.isApart ? '0.0.0.0' : '127.0.0.1', '--port', String(port)]
  program = await startServer()
  kubectl = await Kubectl.in(program)
  server = `https://${there.serverAddress}:${port}`
  const command = await coracleOk('token', 'create', '--print-join-command', '--description', 'for the test')
  const [, token = '', caHash = ''] = /--token (\S+) --discovery-token-ca-cert-hash (\S+)/.exec(command) ?? []
  hash = caHash
  agent = await AgentProcess.start(there, [
    server,
    ...['--token', token, '--discovery-token-ca-cert-hash', hash],
    ...agentArgs(),
  ])
  await kubectl.ok(['apply', '-f', '-'], { input: `${JSON.stringify(deployment)}\n---\n${JSON.stringify(service)}` })
  await kubectl.ok(['rollout', 'status', 'deployment/web', '--timeout=60s'])
})

afterAll(async () => {
  await kubectl?.run(['delete', 'deployment', 'web', '--wait=false'])
  await eventually('the pods of the node are gone', async () => (await farPods()).length === 0).catch(() => {})
  await agent?.end('SIGTERM')
  await program?.[Symbol.asyncDispose]()
  await there?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

/** Kills the agent, and starts it again when that has been done, whatever came of it. */
async function whileAgentIsAway<T>(run: () => Promise<T>): Promise<T> {
  await agent.end('SIGKILL')
  try {
    return await run()
  } finally {
    agent = await AgentProcess.start(there, agentArgs())
  }
}

/** Starts a pod on the node that has five minutes to end, and gives the id of its process. */
async function startFarPod(name: string, script: string): Promise<number> {
  const mark = `${name}-${process.pid}`
  const env = [{ name: 'CORACLE_TEST', value: mark }]
  const container = { name: 'main', image: 'x', command: ['sh', '-c', script], env }
  const spec = { nodeName, terminationGracePeriodSeconds: 300, containers: [container] }
  await kubectl.create('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })
  const isMain = ({ command }: { readonly command: readonly string[] }) => command.length === 3 && command[2] === script
  return eventually('its process', async () => processesWith('CORACLE_TEST', mark).find(isMain)?.pid)
}

describe('a node on another machine', () => {
  it('is a node like others: pods come to it, and its Node says what it was started with', async () => {
    const nodes = rows(await kubectl.ok(['get', 'nodes', '-L', 'disk', '-o', 'wide'])).slice(1)
    expect(nodes.map(([name, status]) => [name, status])).toEqual([
      ['far', 'Ready'],
      ['node-0', 'Ready'],
    ])
    expect(
      await kubectl.ok([
        'get',
        'node',
        nodeName,
        '-o',
        'jsonpath={.metadata.labels.disk} {.status.addresses[0].address}',
      ]),
    ).toBe(`ssd ${there.address}`)
    expect(await farPods()).toHaveLength(2)
    for (const file of ['kubelet-client.pem', 'kubelet-serving.pem']) {
      expect(statSync(join(directory, 'agent', 'pki', file)).mode & 0o777).toBe(0o600)
    }
  })

  it.skipIf(process.platform !== 'linux')(
    'has its processes find services by name, and the pods behind them that it has',
    async () => {
      const behind = { ...service, metadata: { name: 'pods' }, spec: { ...service.spec, clusterIP: 'None' } }
      await kubectl.ok(['apply', '-f', '-'], { input: JSON.stringify(behind) })
      const ask = async (...command: readonly string[]) =>
        (await kubectl.run(['exec', await aFarPod(), '-c', 'shell', '--', ...command])).stdout.trim()
      const address = await kubectl.ok(['get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}'])
      expect(await ask('getent', 'hosts', 'web.default.svc')).toMatch(new RegExp(`^${address}\\s`))
      const found = await eventually('the pods', async () => (await ask('getent', 'ahostsv4', 'pods')) || undefined)
      const own = (await farPods()).map(({ metadata }) => metadata.name)
      const addresses = await Promise.all(
        own.map((name) => kubectl.ok(['get', 'pod', name, '-o', 'jsonpath={.status.podIP}'])),
      )
      const named = new Set(found.split('\n').map((line) => line.split(/\s/)[0]))
      expect(addresses).toEqual(expect.arrayContaining([...named]))
      await kubectl.ok(['delete', 'service', 'pods'])
    },
  )

  it('shows logs, and runs commands', async () => {
    const pod = await aFarPod()
    await expect.poll(() => kubectl.ok(['logs', pod, '-c', 'web'])).toBe('listening on far\n')
    await using following = await kubectl.start(['logs', '-f', pod, '-c', 'web'])
    await eventually('what is followed', async () => following.lines.includes('listening on far'))
    const failed = await kubectl.run(['exec', '-i', pod, '-c', 'web', '--', 'sh', '-c', 'cat; echo $NODE; exit 3'], {
      input: 'hello\n',
    })
    expect([failed.code, failed.stdout]).toEqual([3, 'hello\nfar\n'])
    const spdy = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' }
    expect(await kubectl.ok(['exec', pod, '-c', 'web', '--', 'printenv', 'NODE'], { env: spdy })).toBe('far\n')
    const nobody = await kubectl.run(['logs', pod, '-c', 'nobody'])
    expect(nobody.stderr).toContain('container nobody is not valid for pod')
  })

  it('attaches to what runs, and copies files', async () => {
    const pod = await aFarPod()
    await using attached = await kubectl.start(['attach', '-i', pod, '-c', 'shell'], 'one\n')
    await eventually('an answer', async () => attached.lines.includes('got one'))
    const file = join(directory, 'copied')
    writeFileSync(file, 'carried over')
    await kubectl.ok(['cp', file, `${pod}:${join(directory, 'arrived')}`, '-c', 'web'])
    expect(readFileSync(join(directory, 'arrived'), 'utf8')).toBe('carried over')
  })

  it('is reached through the API: ports of its pods, services, and its own API', async () => {
    const pod = await aFarPod()
    expect(await proxied(`/api/v1/namespaces/default/pods/${pod}:8080/proxy/`)).toBe('far')
    const answers = new Set<string>()
    await eventually('pods of both nodes answer', async () => {
      answers.add(await proxied('/api/v1/namespaces/default/services/web/proxy/'))
      return answers.size === 2
    })
    expect(await proxied(`/api/v1/nodes/${nodeName}/proxy/healthz`)).toBe('ok')
    expect(JSON.parse(await proxied(`/api/v1/nodes/${nodeName}/proxy/pods`)).items).toHaveLength(2)
    const metrics = await proxied(`/api/v1/nodes/${nodeName}/proxy/metrics`)
    for (const side of ['client', 'server']) {
      expect(metrics).toMatch(new RegExp(`^kubelet_certificate_manager_${side}_ttl_seconds [1-9]`, 'm'))
    }
    expect(metrics).toMatch(/^rest_client_requests_total\{code="200",.*\} [1-9]/m)
    expect(metrics).toMatch(/^kubelet_running_pods 2$/m)
    await using forward = await kubectl.start(['port-forward', `pod/${pod}`, ':8080'])
    const port = await eventually('the port', async () => /127\.0\.0\.1:(\d+)/.exec(forward.lines.join('\n'))?.[1])
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('far')
  })

  it('gives commands a terminal', async () => {
    const { kubectl: file } = await tools()
    const command = `${file} --kubeconfig ${program.kubeconfig} exec -it ${await aFarPod()} -c web`
    // It may be told the size after it has begun.
    const typed = `stty rows 33 cols 77; ${command} -- sh -c 'tty; until stty size | grep -v "^0"; do sleep 0.05; done; exit 5'`
    const { code, stdout } = await run('script', ['-qefc', typed, '/dev/null'])
    expect(code).toBe(5)
    expect(stdout).toMatch(/\/dev\/pts\/\d+\r+\n33 77\r+\n/)
  })

  it('runs a pod that it is given in a file, whatever the API says of it', async () => {
    const manifest = join(directory, 'manifests', 'pinned.yaml')
    const script = 'echo "here on $NODE"; exec sleep 3600'
    const env = [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }]
    const container = { name: 'main', image: 'x', command: ['sh', '-c', script], env }
    const spec = { terminationGracePeriodSeconds: 1, containers: [container] }
    // Whole from the first moment on, as kubelets want it.
    writeFileSync(
      join(directory, 'manifests', '.pinned.yaml'),
      JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pinned' }, spec }),
    )
    renameSync(join(directory, 'manifests', '.pinned.yaml'), manifest)
    const name = `pinned-${nodeName}`
    const state = async () => {
      const shown = ['jsonpath={.metadata.uid} {.status.phase} {.status.containerStatuses[0].containerID}']
      const { code, stdout } = await kubectl.run(['get', 'pod', name, '-o', ...shown])
      const [uid = '', phase, container] = stdout.split(' ')
      return code === 0 && phase === 'Running' ? { uid, container } : undefined
    }
    const before = await eventually('the pod runs', state)
    await expect.poll(() => kubectl.ok(['logs', name])).toBe('here on far\n')
    expect(await kubectl.ok(['exec', name, '--', 'printenv', 'NODE'])).toBe('far\n')
    await kubectl.ok(['delete', 'pod', name])
    const after = await eventually('it is shown again', state)
    expect(after.uid).not.toBe(before.uid)
    expect(after.container).toBe(before.container)
    rmSync(manifest)
    await eventually('the pod is gone', async () => !(await kubectl.exists('pods', name)))
  })

  it('has pods evicted: they have the time that they are to have', async () => {
    const [listens, left] = [join(directory, 'listens'), join(directory, 'left')]
    const leave = `trap "echo leaving > ${left}; exit 0" TERM`
    const pid = await startFarPod('evicted', `${leave}; touch ${listens}; while :; do sleep 0.1; done`)
    await expect.poll(() => existsSync(listens)).toBe(true)
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted', namespace: 'default' } }
    await kubectl.ok(['create', '--raw', '/api/v1/namespaces/default/pods/evicted/eviction', '-f', '-'], {
      input: JSON.stringify(eviction),
    })
    await eventually('the pod is gone', async () => !(await kubectl.exists('pods', 'evicted')))
    expect(isRunning(pid)).toBe(false)
    expect(readFileSync(left, 'utf8')).toBe('leaving\n')
  })

  it('kills a pod at once that is deleted by force', async () => {
    // It does not listen to who asks it to end, and had five minutes.
    const pid = await startFarPod('forced', 'trap "" TERM; while :; do sleep 0.1; done')
    await kubectl.ok(['delete', 'pod', 'forced', '--force', '--grace-period=0'])
    expect(await kubectl.exists('pods', 'forced')).toBe(false)
    await eventually('its process is gone', async () => !isRunning(pid))
  })

  it('tells what is used', async () => {
    const top = rows(await kubectl.ok(['top', 'pods', '--no-headers']))
    expect(top.map(([name]) => name)).toContain(await aFarPod())
    expect(rows(await kubectl.ok(['top', 'nodes', '--no-headers'])).map(([name]) => name)).toEqual(['far', 'node-0'])
  })
})

/** What a service answers at its own address, over connections of their own, asked on a machine. */
async function answersOf(on: Pick<Machine, 'prefix'>, times: number, name = 'web'): Promise<ReadonlySet<string>> {
  const clusterIp = await kubectl.ok(['get', 'service', name, '-o', 'jsonpath={.spec.clusterIP}'])
  const script = `(async () => {
    for (let turn = 0; turn < ${times}; turn += 1) {
      const answer = await fetch('http://${clusterIp}', { headers: { connection: 'close' } })
      console.log(await answer.text())
    }
  })()`
  const [command = '', ...args] = [...on.prefix, process.execPath, '-e', script]
  const { code, stdout, stderr } = await run(command, args)
  if (code !== 0) throw new Error(stderr)
  return new Set(stdout.trim().split('\n'))
}
const here = { prefix: [] }

describe('a service leads to pods of all machines', () => {
  it("asked on the server's", async () => {
    await eventually('pods of both answer', async () => (await answersOf(here, 20)).size === 2)
  })

  it("asked on the agent's", async () => {
    if (!there.isApart) return
    await eventually('pods of both answer', async () => (await answersOf(there, 20)).size === 2)
  })

  it('in the network of their host, at the ports that they declare', async () => {
    if (!there.isApart) return
    const [port = 0] = await ownPorts(1)
    const script = web.replace('8080, process.env.CORACLE_POD_IP', `${port}, '0.0.0.0'`)
    const onHost = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'host', labels: { app: 'host' } },
      spec: {
        nodeName,
        hostNetwork: true,
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'main',
            image: 'x',
            command: [process.execPath, '-e', script],
            env: [{ name: 'NODE', value: nodeName }],
            ports: [{ containerPort: port }],
            readinessProbe: { tcpSocket: { port }, periodSeconds: 1, timeoutSeconds: 30 },
          },
        ],
      },
    }
    const ofHost = {
      ...service,
      metadata: { name: 'host' },
      spec: { selector: { app: 'host' }, ports: [{ port: 80, targetPort: port }] },
    }
    await kubectl.ok(['apply', '-f', '-'], { input: `${JSON.stringify(ofHost)}\n---\n${JSON.stringify(onHost)}` })
    await kubectl.ok(['wait', '--for=condition=Ready', 'pod/host', '--timeout=60s'])
    for (const on of [here, there]) {
      await eventually('it answers', async () => (await answersOf(on, 1, 'host')).has(nodeName))
    }
    await kubectl.ok(['delete', 'service/host', 'pod/host'])
  })

  it('but those of a machine that is not reached, of which it is not known yet', async () => {
    const answers = await whileAgentIsAway(() => answersOf(here, 10))
    expect([...answers]).toEqual(['node-0'])
    await eventually('pods of both answer again', async () => (await answersOf(here, 20)).size === 2)
  })
})

describe('a claim that is first used on its node', () => {
  const claim = (name: string) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  /** A pod that writes its name into the volume of a claim, and where it comes to an end says what is there. */
  const writer = (name: string, claimName: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      nodeSelector: { disk: 'ssd' },
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
      containers: [
        {
          name: 'main',
          image: 'x',
          command: ['sh', '-c', `echo ${name} >> data/names; cat data/names`],
          volumeMounts: [{ name: 'data', mountPath: 'data' }],
        },
      ],
    },
  })
  const apply = (...objects: readonly object[]) =>
    kubectl.ok(['apply', '-f', '-'], { input: objects.map((object) => JSON.stringify(object)).join('\n---\n') })
  /** Uses a claim on the node, by pods one after the other, and gives the name of its volume. */
  async function use(claimName: string, ...pods: readonly string[]): Promise<string> {
    await apply(claim(claimName))
    for (const pod of pods) {
      await apply(writer(pod, claimName))
      await kubectl.ok(['wait', '--for=jsonpath={.status.phase}=Succeeded', `pod/${pod}`, '--timeout=60s'])
    }
    return kubectl.ok(['get', 'pvc', claimName, '-o', 'jsonpath={.spec.volumeName}'])
  }
  const directoryOf = (volume: string) => join(directory, 'agent', 'kubelet', nodeName, 'volumes', volume)
  const volumes = async () => (await kubectl.ok(['get', 'pv', '-o', 'name'])).trim()
  const events = (name: string) =>
    kubectl.ok(['get', 'events', '--field-selector', `involvedObject.name=${name}`, '-o', 'jsonpath={..message}'])

  it('has a volume there, which stays with it and goes with it', async () => {
    const volume = await use('data', 'first', 'second')
    expect(await kubectl.ok(['logs', 'second'])).toBe('first\nsecond\n')
    expect(readFileSync(join(directoryOf(volume), 'names'), 'utf8')).toBe('first\nsecond\n')
    expect(existsSync(join(directory, 'server', 'kubelet', nodeName))).toBe(false)
    const said = '{.spec.local.path} {.spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]}'
    expect(await kubectl.ok(['get', 'pv', volume, '-o', `jsonpath=${said}`])).toBe(`${directoryOf(volume)} ${nodeName}`)
    expect(await events('data')).toContain(`Successfully provisioned volume ${volume}`)
    await kubectl.ok(['delete', 'pod/first', 'pod/second', 'pvc/data'])
    await eventually('the volume is gone', async () => (await volumes()) === '')
    expect(existsSync(directoryOf(volume))).toBe(false)
  })

  it('leaves what is in it where its policy is to retain it', async () => {
    const volume = await use('kept', 'third')
    const patch = JSON.stringify({ spec: { persistentVolumeReclaimPolicy: 'Retain' } })
    await kubectl.ok(['patch', 'pv', volume, '-p', patch])
    await kubectl.ok(['delete', 'pod/third', 'pvc/kept'])
    await kubectl.ok(['wait', '--for=jsonpath={.status.phase}=Released', `pv/${volume}`, '--timeout=50s'])
    await kubectl.ok(['delete', 'pv', volume, '--timeout=50s'])
    expect(readFileSync(join(directoryOf(volume), 'names'), 'utf8')).toBe('third\n')
  })

  it('keeps its volume for as long as the agent is away that is to remove it', async () => {
    const volume = await use('left', 'fourth')
    await kubectl.ok(['delete', 'pod/fourth'])
    await whileAgentIsAway(async () => {
      await kubectl.ok(['delete', 'pvc/left'])
      await eventually('it is told', async () => (await events(volume)).includes('connection refused'))
      expect(await volumes()).toBe(`persistentvolume/${volume}`)
      expect(existsSync(directoryOf(volume))).toBe(true)
    })
    await eventually('the volume is gone', async () => (await volumes()) === '')
    expect(existsSync(directoryOf(volume))).toBe(false)
  })
})

describe('a machine does not join', () => {
  const tryToJoin = (...args: string[]) =>
    run(
      process.execPath,
      [
        coracleFile,
        'agent',
        server.replace(there.serverAddress, '127.0.0.1'),
        '--data-dir',
        join(directory, 'no'),
        ...args,
      ],
      {
        timeoutMs: 60_000,
      },
    )

  it('by a token that is wrong, or over', async () => {
    const token = await coracleOk('token', 'create')
    const wrong = await tryToJoin(
      '--token',
      `${token.slice(0, 7)}0000000000000000`,
      '--discovery-token-ca-cert-hash',
      hash,
    )
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('is not signed with this token')])
    await coracleOk('token', 'create', 'zzzzzz.0123456789abcdef', '--ttl', '1s')
    await eventually('the token is over', async () => !(await coracleOk('token', 'list')).includes('zzzzzz'))
    const over = await tryToJoin('--token', 'zzzzzz.0123456789abcdef', '--discovery-token-ca-cert-hash', hash)
    expect([over.code, over.stderr]).toEqual([1, expect.stringContaining('knows no token zzzzzz')])
  })

  it('where the authority is another than it was told', async () => {
    const token = await coracleOk('token', 'create')
    const other = `sha256:${'0'.repeat(64)}`
    const { code, stderr } = await tryToJoin('--token', token, '--discovery-token-ca-cert-hash', other)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`has the hash ${hash}, and not ${other}`)])
    const unsure = await tryToJoin('--token', token)
    expect([unsure.code, unsure.stderr]).toEqual([1, expect.stringContaining('give --discovery-token-ca-cert-hash')])
  })

  it('under a name that no node can have', async () => {
    const { code, stderr } = await tryToJoin('--token', 'abcdef.0123456789abcdef', '--hostname-override', 'far_away')
    expect([code, stderr]).toEqual([1, expect.stringContaining('no node can be named "far_away"')])
  })

  it('as another node than the one it is', async () => {
    const pem = readFileSync(join(directory, 'agent', 'pki', 'kubelet-client.pem')).toString('base64')
    const kubeconfig = JSON.parse(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'far' } }],
        clusters: [
          {
            name: 'c',
            cluster: {
              server: program.address,
              'certificate-authority-data': readFileSync(join(directory, 'agent', 'pki', 'ca.crt')).toString('base64'),
            },
          },
        ],
        users: [{ name: 'far', user: { 'client-certificate-data': pem, 'client-key-data': pem } }],
      }),
    )
    const file = join(directory, 'far.kubeconfig')
    writeFileSync(file, JSON.stringify(kubeconfig))
    const { code, stderr } = await run(process.execPath, [
      ...[coracleFile, '--kubeconfig', file, 'agent', '--hostname-override', 'node-0'],
      ...['--data-dir', join(directory, 'no'), '--port', '0', '--runtime', 'simulated'],
    ])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/forbidden/i)])
    const secrets = await kubectl.run(['--kubeconfig', file, 'get', 'secrets', '-A'])
    expect(secrets.stderr).toContain('User "system:node:far" cannot list resource "secrets"')
  })
})

describe('what goes away comes back', () => {
  const ids = async () =>
    (await farPods())
      .flatMap(({ status }) => (status.containerStatuses ?? []).map(({ containerID }) => containerID))
      .sort()

  it('an agent that is killed: its pods run on, and are taken up at its next start', async () => {
    const before = await ids()
    await agent.end('SIGKILL')
    agent = await AgentProcess.start(there, agentArgs())
    await eventually('the node is ready', isReady)
    expect(await ids()).toEqual(before)
    expect(
      (await farPods()).flatMap(({ status }) => status.containerStatuses?.map(({ restartCount }) => restartCount)),
    ).toEqual([0, 0, 0, 0])
    expect(await kubectl.ok(['exec', await aFarPod(), '-c', 'web', '--', 'printenv', 'NODE'])).toBe('far\n')
  })

  it('a server that is killed: the node goes on, and is there when it is back', async () => {
    const before = await ids()
    await program.end('SIGKILL')
    program = await startServer()
    kubectl = await Kubectl.in(program)
    const pod = await eventually('a pod of the node', async () => (await aFarPod()) || undefined)
    await eventually('a command runs there again', async () => {
      const { code, stdout } = await kubectl.run(['exec', pod, '-c', 'web', '--', 'printenv', 'NODE'])
      return code === 0 && stdout === 'far\n'
    })
    expect(await ids()).toEqual(before)
    await kubectl.ok(['delete', 'pod', pod, '--wait=false'])
    await eventually('the node ends a pod, and another runs', async () => {
      const left = await ids()
      return left.length === 4 && !before.every((id) => left.includes(id))
    })
  })
})
