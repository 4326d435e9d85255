import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FakeDriver } from '../../packages/csi/src/testing/fake-driver.ts'
import { mountsBelow } from '../../packages/environment/src/mounts.ts'
import { FakeDeviceDriver } from '../../packages/kubelet/src/testing/fake-device-driver.ts'
import { FakeDevicePlugin, gpu } from '../../packages/kubelet/src/testing/fake-device-plugin.ts'
import { busyboxImage, testImage } from '../../packages/kubelet/src/testing/test-images.ts'
import { ownPorts } from '../../packages/store/src/testing/own-ports.ts'
import { Api, patch, post, remove } from './api.ts'
import { ImageRegistry } from './image-registry.ts'
import { configMap, paths, pod } from './objects.ts'
import { eventually, Program, run as spawned } from './program.ts'
import { tools } from './tools.ts'

// biome-ignore lint/suspicious/noExplicitAny: an object of any kind
type Any = any

/** A container runtime that is started for tests, with all that is its in a temporary directory. */
export interface RuntimeUnderTest extends AsyncDisposable {
  readonly endpoint: string
  /** Ends it, and leaves its containers to themselves. */
  kill(): Promise<void>
  /** Starts it again, where it was before. */
  start(): Promise<void>
  /** The ids of all containers, sandboxes too. */
  containers(): Promise<readonly string[]>
  /** Mounts of this host that containers have left. */
  mounts(): readonly string[]
}

/** What of a runtime is its own. */
export interface RuntimeDescription {
  /** Of `--runtime`. */
  readonly flag: 'cri' | 'docker'
  /** `containerRuntimeVersion` of its node. */
  readonly version: RegExp
  /** What begins the id of a container. */
  readonly scheme: string
  /** Why an image cannot be had that a registry does not have, and what follows where it does not let one in. */
  readonly missingImage: RegExp
  readonly unauthorized: RegExp
  /** Groups that the image has its user in. */
  readonly imageGroups: readonly string[]
  /** Whether commands end that are given up: others run on until they end by themselves. */
  readonly endsCommands: boolean
  /** Whether it tells what goes through the network of a sandbox. */
  readonly countsTraffic: boolean
  /** What is said of a container with a volume that is an image. */
  readonly noImageVolumes: RegExp
  /** Whether it counts what containers write beside volumes. */
  readonly countsLayers: boolean
  /** What it calls the end of a container that took more memory than it may. */
  readonly outOfMemory: RegExp
}

const { pods } = paths

/** What every container runtime does for a cluster on its node. Call it within a `describe`. */
export function itRunsContainers(start: () => Promise<RuntimeUnderTest>, its: RuntimeDescription): void {
  let home: string
  let runtime: RuntimeUnderTest
  let program: Program
  let api: Api

  // How full the disk of this machine is is no concern of tests.
  const startProgram = async (more: readonly string[] = ['--eviction-hard', '']) => {
    const args = ['--runtime', its.flag, '--container-runtime-endpoint', runtime.endpoint]
    program = await Program.start({
      dataDir: join(home, 'data'),
      args: [...args, '--pod-logs-dir', join(home, 'logs'), ...more],
      env: { HOME: home },
    })
    api = await Api.of(program)
  }
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'coracle-'))
    runtime = await start()
    await startProgram()
    await runServer()
  })
  afterAll(async () => {
    api?.close()
    await program?.end('SIGINT')
    await runtime?.[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true })
  })

  const container = (fields: object = {}) => ({ image: testImage, ...fields })
  const quick = { terminationGracePeriodSeconds: 1 }
  const run = (
    name: string,
    command: readonly string[],
    more: { readonly spec?: object; readonly container?: object } = {},
  ) =>
    api.object(
      pods,
      post(pod(name, command, { spec: { ...quick, ...more.spec }, container: container(more.container) } as Any)),
    )
  const podWhere = (name: string, what: string, suits: (found: Any) => boolean) =>
    eventually(`${name} ${what}`, async () => {
      const found = await api.object(`${pods}/${name}`)
      return suits(found) && found
    })
  const ready = (name: string) =>
    podWhere(name, 'to be ready', ({ status }) => status?.containerStatuses?.every((each: Any) => each.ready) === true)
  const ended = (name: string) =>
    podWhere(name, 'to end', ({ status }) => ['Succeeded', 'Failed'].includes(status?.phase))
  /** Removes pods that no later test asks for: to say what has become of one, Podman looks at all that there are. */
  const done = async (...names: readonly string[]) => {
    for (const name of names) await api.object(`${pods}/${name}`, remove())
  }
  const log = async (name: string, query = '') => (await api.call(`${pods}/${name}/log?${query}`)).text
  const textAt = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(60_000) })).text()
  const exec = (name: string, ...command: readonly string[]) => program.kubectlOk(['exec', name, '--', ...command])

  /** A server that fails at first: it takes a while until it is started again. */
  const runServer = async () => {
    const server = 'touch /tmp/up; while true; do printf "HTTP/1.0 200 OK\\r\\n\\r\\nhere" | nc -l -p 8080; done'
    await run('web', ['sh', '-c', `[ -e /data/before ] || { touch /data/before; echo first; exit 1; }; ${server}`], {
      spec: { volumes: [{ name: 'data', emptyDir: {} }] },
      container: {
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
        ports: [{ containerPort: 8080 }],
        readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 1, timeoutSeconds: 30 },
        // On a busy machine a command in a container, or an answer, takes more than the second that probes have.
        livenessProbe: {
          exec: { command: ['cat', '/tmp/up'] },
          periodSeconds: 1,
          timeoutSeconds: 30,
          initialDelaySeconds: 1,
        },
      },
    })
  }

  it('says what it is', async () => {
    const node = await api.object('/api/v1/nodes/node-0')
    expect(node.status.nodeInfo.containerRuntimeVersion).toMatch(its.version)
  })

  it('gives a pod what it takes to call the API, where client libraries look for it', async () => {
    const directory = '/var/run/secrets/kubernetes.io/serviceaccount'
    const script = [
      `cat ${directory}/namespace; echo; head -1 ${directory}/ca.crt`,
      // It says that it is a server of HTTPS.
      "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc $KUBERNETES_SERVICE_HOST $KUBERNETES_SERVICE_PORT | tail -1; echo",
      `cat ${directory}/token`,
    ].join('\n')
    await run('caller', ['sh', '-c', script], { spec: { restartPolicy: 'Never' } })
    await ended('caller')
    const lines = (await log('caller')).split('\n').filter((line) => line !== '')
    const [namespace, authority, connection, token = ''] = lines
    expect([namespace, authority, connection]).toEqual([
      'default',
      '-----BEGIN CERTIFICATE-----',
      expect.stringContaining('HTTPS'),
    ])
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
    const { status } = await api.object('/apis/authentication.k8s.io/v1/tokenreviews', post(review))
    expect(status.user.username).toBe('system:serviceaccount:default:default')
    await done('caller')
  })

  it('runs a pod to its end, with its environment, and keeps what it said', async () => {
    const script =
      'echo "hello $WHO from $(hostname)"; echo wrong >&2; echo -n "last words" > /dev/termination-log; exit 3'
    await run('talker', ['sh', '-c', script], {
      spec: { restartPolicy: 'Never' },
      container: { env: [{ name: 'WHO', value: 'world' }] },
    })
    const { status } = await ended('talker')
    expect(status.phase).toBe('Failed')
    const [{ state, containerID, imageID, image }] = status.containerStatuses
    expect(state.terminated).toMatchObject({ exitCode: 3, reason: 'Error', message: 'last words', containerID })
    expect(containerID).toMatch(new RegExp(`^${its.scheme}://[0-9a-f]{64}$`))
    expect(image).toBe(testImage)
    expect(imageID).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect((await log('talker')).split('\n').sort()).toEqual(['', 'hello world from talker', 'wrong'])
    await done('talker')
  })

  it('runs commands beside it, and shows what it writes as it does', async () => {
    await run('shell', ['sh', '-c', 'while read line; do echo "got $line"; done'], { container: { stdin: true } })
    const { status } = await ready('shell')
    expect(status.podIP).toMatch(/^10\.\d+\.\d+\.\d+$/)
    expect(await exec('shell', 'hostname')).toBe('shell\n')
    const failed = await program.kubectl(['exec', 'shell', '--', 'sh', '-c', 'echo no >&2; exit 5'])
    expect(failed).toMatchObject({ code: 5, stdout: '' })
    expect(failed.stderr).toContain('no\n')
    const piped = await program.kubectl(['exec', '-i', 'shell', '--', 'cat'], { input: 'through\n' })
    expect(piped).toMatchObject({ code: 0, stdout: 'through\n' })
    const leaving = new AbortController()
    const attached = program.kubectl(['attach', '-i', 'shell'], { input: 'one\ntwo\n', signal: leaving.signal })
    await eventually('the log', async () => (await log('shell')) === 'got one\ngot two\n')
    leaving.abort()
    await attached.catch(() => {})
    await done('shell')
  })

  it('gives each container the users, rights and limits that its pod names', async () => {
    const script = `
      id -u; id -g; id -G | tr ' ' '\\n' | sort -n | tr '\\n' ' '; echo
      grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status | tr -d '\\t'
      touch /nothing 2>&1 | grep -o 'Read-only file system'
      cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null
      cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2>/dev/null
      echo to > /data/file && stat -c '%g %a' /data /data/file
      cat /config/key /config/part; stat -c %g /config/..data/key`
    await api.object(
      '/api/v1/namespaces/default/configmaps',
      post(configMap('settings', { key: 'value;', part: 'p;' })),
    )
    await run('secure', ['sh', '-c', script], {
      spec: {
        restartPolicy: 'Never',
        securityContext: { runAsUser: 1234, runAsGroup: 1234, fsGroup: 777, supplementalGroups: [888] },
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'config', configMap: { name: 'settings' } },
        ],
      },
      container: {
        resources: { limits: { memory: '48Mi', cpu: '500m' } },
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'config', mountPath: '/config' },
        ],
        securityContext: {
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          seccompProfile: { type: 'RuntimeDefault' },
        },
      },
    })
    await ended('secure')
    expect((await log('secure')).split('\n')).toEqual([
      ...['1234', '1234', `${[777, 888, 1234, ...its.imageGroups].join(' ')} `],
      ...['CapEff:0000000000000000', 'NoNewPrivs:1', 'Seccomp:2'],
      'Read-only file system',
      String(48 * 1024 * 1024),
      expect.stringMatching(/^50000( 100000)?$/),
      ...['777 2777', '777 644'],
      'value;p;777',
      '',
    ])
  })

  it('keeps volumes in memory, of the size that they say', async () => {
    const script = `
      grep -o ' /fast tmpfs .*size=[0-9]*k' /proc/mounts | tr ',' ' ' | tr -s ' ' '\\n' | grep -e tmpfs -e size
      stat -c '%a %g' /fast; id -u
      echo kept > /fast/file; dd if=/dev/zero of=/fast/more bs=1k count=2000 2>&1 | grep -o 'No space left on device'
      sleep 1000`
    await run('fast', ['sh', '-c', script], {
      spec: {
        securityContext: { runAsUser: 1234, fsGroup: 777 },
        volumes: [{ name: 'fast', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }],
      },
      container: { volumeMounts: [{ name: 'fast', mountPath: '/fast' }] },
    })
    const said = await eventually('its words', async () => {
      const text = await log('fast')
      return text.includes('left on device') && text
    })
    expect(said.trim().split('\n')).toEqual(['tmpfs', 'size=1024k', '3777 777', '1234', 'No space left on device'])
  })

  it('shows a container a part of a volume alone, which stays what it was when the container started', async () => {
    const at = (mountPath: string, subPath?: string) => ({ name: 'all', mountPath, ...(subPath && { subPath }) })
    const prepare = 'mkdir /all/part; echo here > /all/part/file'
    const script = `mv /all/part /all/was; ln -s / /all/part; ls -A /part; cat /part/file /one; stat -c %a /all/new /new`
    await run('parts', ['sh', '-c', script], {
      spec: {
        restartPolicy: 'Never',
        securityContext: { fsGroup: 777 },
        volumes: [{ name: 'all', emptyDir: {} }],
        initContainers: [
          { name: 'prepare', image: testImage, command: ['sh', '-c', prepare], volumeMounts: [at('/all')] },
        ],
      },
      container: {
        volumeMounts: [at('/all'), at('/part', 'part'), at('/one', 'part/file'), at('/new', 'new/deep')],
      },
    })
    await ended('parts')
    expect((await log('parts', 'container=main')).split('\n')).toEqual(['file', 'here', 'here', '2777', '2777', ''])
  })

  it('evicts pods that store more on its disk than they may', async () => {
    const fill = (path: string) => ['sh', '-c', `dd if=/dev/zero of=${path} bs=1k count=3000; sleep 1000`]
    const stores = (limit: string) => ({ resources: { limits: { 'ephemeral-storage': limit } } })
    const other = { name: 'other', image: testImage, command: ['sleep', '1000'], ...stores('1Gi') }
    await run('filled', fill('/data/big'), {
      spec: { volumes: [{ name: 'data', emptyDir: { sizeLimit: '1Mi' } }] },
      container: { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
    })
    await run('talkative', ['sh', '-c', 'yes | head -c 2000000; sleep 1000'], { container: stores('1Mi') })
    if (its.countsLayers) {
      const main = { name: 'main', image: testImage, command: fill('/big'), ...stores('1Mi') }
      await run('written', [], { spec: { containers: [main, other] } })
    }
    const evicted = async (name: string) => {
      const { status } = await ended(name)
      expect(status).toMatchObject({ phase: 'Failed', reason: 'Evicted' })
      const [found] = (await events(name)).filter(({ reason }) => reason === 'Evicted')
      expect(found).toMatchObject({ type: 'Warning', message: status.message })
      return status.message
    }
    expect(await evicted('filled')).toBe('Usage of EmptyDir volume "data" exceeds the limit "1Mi". ')
    expect(await evicted('talkative')).toBe(
      'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ',
    )
    if (its.countsLayers)
      expect(await evicted('written')).toBe('Container main exceeded its local ephemeral storage limit "1Mi". ')
    await done('filled', 'talkative', ...(its.countsLayers ? ['written'] : []))
  })

  it('names hosts, and looks names up, as a pod says', async () => {
    await run('names', ['sh', '-c', 'cat /etc/hosts /etc/resolv.conf; hostname; id -u; sleep 1000'], {
      spec: {
        hostname: 'me',
        hostAliases: [{ ip: '1.2.3.4', hostnames: ['other.example'] }],
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['9.9.9.9'], searches: ['x.example'], options: [{ name: 'ndots', value: '2' }] },
        securityContext: { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] },
      },
    })
    const { status } = await ready('names')
    const said = await eventually('its words', async () => {
      const text = await log('names')
      return text.includes('\nme\n') && text
    })
    expect(said).toContain(`\n${status.podIP}\tme\n`)
    expect(said).toContain('\n1.2.3.4\tother.example\n')
    expect(said).toContain('search x.example\nnameserver 9.9.9.9\noptions ndots:2\n')
    expect(await exec('names', 'cat', '/proc/sys/net/ipv4/ip_unprivileged_port_start')).toBe('0\n')
    await done('names')
  })

  it('tells of a container that took more memory than it may', async () => {
    await run('greedy', ['sh', '-c', 'x=$(yes | head -c 200000000); echo survived'], {
      spec: { restartPolicy: 'Never' },
      container: { resources: { limits: { memory: '20Mi' } } },
    })
    const { status } = await ended('greedy')
    expect(status.containerStatuses[0].state.terminated).toMatchObject({
      exitCode: 137,
      reason: expect.stringMatching(its.outOfMemory),
    })
    await done('greedy')
  })

  it('starts a container again that has ended, and asks it how it is', async () => {
    const { status } = await ready('web')
    expect(status.containerStatuses[0]).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 1 } } })
    expect(await log('web', 'previous=true')).toBe('first\n')
    const answer = await eventually('an answer', async () => {
      const through = await api.call(`${pods}/web:8080/proxy/`)
      return through.code === 200 && through.text
    })
    expect(answer).toBe('here')
    await exec('web', 'rm', '/tmp/up')
    await podWhere('web', 'to start again', (found) => found.status.containerStatuses[0].restartCount === 2)
    await done('web')
  })

  it('leads from the host and from pods to what is behind a service', async () => {
    const serve = 'while true; do printf "HTTP/1.0 200 OK\\r\\n\\r\\nserved" | nc -l -p 8080; done'
    const labels = { app: 'behind' }
    const behind = pod('behind', ['sh', '-c', serve], { labels, spec: quick, container: { image: testImage } })
    await api.object(pods, post(behind))
    const spec = { selector: labels, ports: [{ port: 80, targetPort: 8080 }] }
    const service = await api.object(
      '/api/v1/namespaces/default/services',
      post({ metadata: { name: 'behind' }, spec }),
    )
    await run('client', ['sleep', '1000'])
    await Promise.all(['behind', 'client'].map(ready))
    const url = `http://${service.spec.clusterIP}/`
    expect(await eventually('an answer', () => textAt(url))).toBe('served')
    expect(await eventually('an answer in a pod', () => exec('client', 'wget', '-q', '-O', '-', url))).toBe('served')
    await done('behind', 'client')
  })

  it('forwards ports of pods and of the node, also to servers that listen on loopback alone', async () => {
    const [hostPort = 0] = await ownPorts(1)
    const script = [
      ...['mkdir /tmp/in /tmp/out', 'echo inside > /tmp/in/index.html', 'echo outside > /tmp/out/index.html'],
      ...['httpd -p 127.0.0.1:8081 -h /tmp/in', 'exec httpd -f -p 8080 -h /tmp/out'],
    ].join('\n')
    await run('ports', ['sh', '-c', script], { container: { ports: [{ containerPort: 8080, hostPort }] } })
    await ready('ports')
    for (const [port, text] of [
      [8080, 'outside'],
      [8081, 'inside'],
    ]) {
      const answer = await eventually(`an answer at ${port}`, async () => {
        const { code, text: found } = await api.call(`${pods}/ports:${port}/proxy/`)
        return code === 200 && found.trim()
      })
      expect(answer).toBe(text)
    }
    const url = `http://127.0.0.1:${hostPort}/`
    expect(await eventually('an answer of the node', () => textAt(url))).toBe('outside\n')
    const nothing = await api.call(`${pods}/ports:8082/proxy/`)
    expect(nothing.code).toBeGreaterThanOrEqual(500)
    await done('ports')
  })

  it('shows containers of a pod each other where it says so, and tells what they use', async () => {
    // Some hundredths of a core: it is seen, and leaves the rest to other tests.
    const works = ['sh', '-c', 'while true; do i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done; sleep 0.3; done']
    await run('together', works, {
      spec: {
        shareProcessNamespace: true,
        containers: [
          { name: 'main', image: testImage, command: works },
          { name: 'other', image: testImage, command: ['sleep', '1234'] },
        ],
      },
    })
    await ready('together')
    expect(await exec('together', 'ps')).toContain('sleep 1234')
    const metrics = `/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/together`
    const used = await eventually('what it uses', async () => {
      const { containers = [] } = await api.object(metrics)
      const usage = containers.find(({ name }: Any) => name === 'main')?.usage
      return usage !== undefined && usage.cpu !== '0' && usage
    })
    expect(used.memory).toMatch(/^[1-9]\d*Ki$/)
    const scraped = (await api.call('/api/v1/nodes/node-0/proxy/metrics/cadvisor')).text
    const about = 'container="main",id="/kubepods/besteffort/pod[^"]+",image="[^"]+",name="[0-9a-f]+"'
    for (const name of ['cpu_usage_seconds_total{cpu="total",', 'memory_working_set_bytes{', 'memory_usage_bytes{']) {
      expect(scraped).toMatch(
        new RegExp(`^container_${name}${about},namespace="default",pod="together"} [0-9.]+ `, 'm'),
      )
    }
    expect(scraped).toMatch(/^container_spec_cpu_shares\{container="main",.*pod="together"\} 2$/m)
    if (its.countsTraffic) {
      expect(scraped).toMatch(/^container_network_receive_bytes_total\{interface="[^"]+",.*pod="together"\} \d+ /m)
    }
    await done('together')
  })

  it('gives commands a terminal', async () => {
    await run('terminal', ['sleep', '1000'])
    await ready('terminal')
    const inTerminal = 'script -qec "$0 $*" /dev/null'
    const { kubectl } = await tools()
    const args = ['--kubeconfig', program.kubeconfig, 'exec', '-it', 'terminal', '--', 'tty']
    const { stdout } = await spawned('sh', ['-c', inTerminal, kubectl, ...args], { env: { HOME: home } })
    expect(stdout).toContain('/dev/pts/')
  })

  if (its.endsCommands) {
    it('ends commands whose client has left', async () => {
      const processes = () => exec('terminal', 'ps')
      const leaving = new AbortController()
      const left = program.kubectl(['exec', 'terminal', '--', 'sleep', '4321'], { signal: leaving.signal })
      await eventually('it to run', async () => (await processes()).includes('sleep 4321'))
      leaving.abort()
      await left.catch(() => {})
      await eventually('it to end', async () => !(await processes()).includes('sleep 4321'))
    })
  }

  it('gives a container other resources while it runs', async () => {
    await run('resized', ['sleep', '1000'], {
      container: { resources: { limits: { cpu: '100m' }, requests: { cpu: '100m' } } },
    })
    await ready('resized')
    const quota = 'cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2>/dev/null'
    expect(await exec('resized', 'sh', '-c', `${quota}; true`)).toMatch(/^10000\b/)
    const containers = [{ name: 'main', resources: { limits: { cpu: '200m' }, requests: { cpu: '200m' } } }]
    await api.object(`${pods}/resized/resize`, patch('strategic-merge', { spec: { containers } }))
    await eventually('the new limit', async () =>
      (await exec('resized', 'sh', '-c', `${quota}; true`)).startsWith('20000'),
    )
    const { status } = await api.object(`${pods}/resized`)
    expect(status.containerStatuses[0].restartCount).toBe(0)
    await done('resized')
  })

  it('takes no memory from a container that it uses', async () => {
    const memory = (amount: string) => ({ limits: { memory: amount }, requests: { memory: amount } })
    const use = 'head -c 20000000 /dev/zero >/dev/shm/used; touch /tmp/used; exec sleep 1000'
    const readinessProbe = { exec: { command: ['cat', '/tmp/used'] }, periodSeconds: 1, timeoutSeconds: 30 }
    await run('full', ['sh', '-c', use], { container: { resources: memory('64Mi'), readinessProbe } })
    await ready('full')
    const resize = (amount: string) =>
      api.object(
        `${pods}/full/resize`,
        patch('strategic-merge', { spec: { containers: [{ name: 'main', resources: memory(amount) }] } }),
      )
    const resizing = async () =>
      (await api.object(`${pods}/full`)).status.conditions.find(({ type }: Any) => type === 'PodResizeInProgress')
    await resize('12Mi')
    const refusal = /^cannot decrease memory limits: attempting to set container "main" memory limit \(12582912\) below/
    await eventually('why it stays', async () => {
      const { reason, message } = (await resizing()) ?? {}
      return reason === 'Error' && refusal.test(message)
    })
    const [container] = (await api.object(`${pods}/full`)).status.containerStatuses
    expect(container).toMatchObject({ resources: memory('64Mi'), allocatedResources: { memory: '12Mi' } })
    await told('full', 'ResizeError', /^Pod resize error: .*"error":"cannot decrease memory limits/)
    await resize('48Mi')
    await eventually('the end of it', async () => (await resizing()) === undefined)
    const [given] = (await api.object(`${pods}/full`)).status.containerStatuses
    expect(given).toMatchObject({ resources: memory('48Mi'), restartCount: 0 })
    await told('full', 'ResizeCompleted', /"memory":"48Mi"/)
    await done('full')
  })

  const events = async (name: string): Promise<readonly Any[]> => {
    const query = `fieldSelector=involvedObject.name%3D${name}`
    return (await api.object(`/api/v1/namespaces/default/events?${query}`)).items
  }
  const told = (name: string, reason: string, message: RegExp | string) =>
    eventually(`${reason} of ${name}`, async () => {
      const found = (await events(name)).filter((event) => event.reason === reason)
      return found.some((event) =>
        typeof message === 'string' ? event.message === message : message.test(event.message),
      )
    })

  it('gives containers devices that plugins of its node offer', async () => {
    const files = [{ containerPath: '/dev/gpu0', hostPath: '/dev/zero', permissions: 'r' }]
    const allocate = () => ({ containerResponses: [{ envs: { GPUS: 'gpu0' }, devices: files }] })
    const plugins = join(home, 'data', 'kubelet', 'node-0', 'device-plugins')
    await FakeDevicePlugin.start(plugins, ['gpu0'], { answers: { allocate } })
    await eventually('the node to offer it', async () => {
      const { status } = await api.object('/api/v1/nodes/node-0')
      return status.capacity[gpu] === '1' && status.allocatable[gpu] === '1'
    })
    const asking = { container: { resources: { limits: { [gpu]: '1' } } } }
    await run('computing', ['sh', '-c', 'echo $GPUS; head -c 3 /dev/gpu0 | wc -c; exec sleep 1000'], asking)
    await eventually('it to compute', async () => (await log('computing')) === 'gpu0\n3\n')
    await run('waiting', ['sleep', '1000'], asking)
    await podWhere('waiting', 'to wait for the device', ({ status }) =>
      /Insufficient example\.com\/gpu/.test(status?.conditions?.[0]?.message),
    )
    await done('computing')
    await ready('waiting')
    await done('waiting')
  })

  it('has drivers of its node prepare the devices that pods claim, and take them back', async () => {
    const driver = 'gpu.example.com'
    const apiVersion = 'resource.k8s.io/v1'
    const root = join(home, 'data', 'kubelet', 'node-0')
    const socket = join(root, 'driver.sock')
    const fake = await FakeDeviceDriver.start(socket)
    fake.prepare = () => ({ devices: [{ requestNames: ['gpu'], poolName: 'node-0', deviceName: 'gpu-0' }] })
    const pool = { name: 'node-0', generation: 1, resourceSliceCount: 1 }
    const slice = { driver, nodeName: 'node-0', pool, devices: [{ name: 'gpu-0' }] }
    const requests = [{ name: 'gpu', exactly: { deviceClassName: 'gpus' } }]
    await api.object(`/apis/${apiVersion}/resourceslices`, post({ metadata: { name: 'node-0-gpus' }, spec: slice }))
    await api.object(`/apis/${apiVersion}/deviceclasses`, post({ metadata: { name: 'gpus' }, spec: {} }))
    await api.object(
      `/apis/${apiVersion}/namespaces/default/resourceclaims`,
      post({ metadata: { name: 'training' }, spec: { devices: { requests } } }),
    )
    await run('training', ['sleep', '1000'], {
      spec: { resourceClaims: [{ name: 'mine', resourceClaimName: 'training' }] },
      container: { resources: { claims: [{ name: 'mine' }] } },
    })
    await told('training', 'FailedPrepareDynamicResources', /: DRA driver gpu\.example\.com is not registered$/)
    const registration = { name: driver, type: 'DRAPlugin', endpoint: socket, supportedVersions: ['v1.DRAPlugin'] }
    const registrar = await FakeDriver.start(root, {}, registration)
    await ready('training')
    expect(registrar.told).toEqual([{ pluginRegistered: true, error: '' }])
    expect(fake.asked).toEqual(['prepare default/training'])
    await done('training')
    await eventually('them to be taken back', async () => fake.asked.at(-1) === 'unprepare default/training')
  })

  it('pulls images, as their policy says', async () => {
    await using registry = await ImageRegistry.start()
    const image = registry.add('team/web:1', await busyboxImage({ Cmd: ['/bin/sleep', '1000'] }, 'one'))
    await run('pulled', [], { container: { image, command: undefined } })
    const { status } = await ready('pulled')
    expect(status.containerStatuses[0]).toMatchObject({
      image,
      imageID: expect.stringContaining(`${registry.host}/team/web@sha256:`),
    })
    await told('pulled', 'Pulling', `Pulling image "${image}"`)
    await told(
      'pulled',
      'Pulled',
      /^Successfully pulled image ".*" in \S+ \(\S+ including waiting\)\. Image size: \d+ bytes\.$/,
    )
    expect(registry.pulled).toContain('team/web:1')
    const before = registry.pulled.length
    await run('present', ['sleep', '1000'], { container: { image, imagePullPolicy: 'IfNotPresent' } })
    await ready('present')
    await told(
      'present',
      'Pulled',
      `Container image "${image}" already present on machine and can be accessed by the pod`,
    )
    expect(registry.pulled.length).toBe(before)
    await run('always', ['sleep', '1000'], { container: { image, imagePullPolicy: 'Always' } })
    await ready('always')
    expect(registry.pulled.length).toBeGreaterThan(before)
    const node = await eventually('the node to name it', async () => {
      const found = await api.object('/api/v1/nodes/node-0')
      return found.status.images?.some(({ names }: Any) => names.includes(image)) && found
    })
    expect(node.status.images[0].sizeBytes).toBeGreaterThan(100_000)
    await done('pulled', 'present', 'always')
  })

  it('says why an image cannot be had', async () => {
    await using registry = await ImageRegistry.start()
    const image = `${registry.host}/team/none:1`
    await run('missing', ['true'], { container: { image } })
    await podWhere(
      'missing',
      'to wait',
      ({ status }) => status.containerStatuses?.[0].state.waiting?.reason === 'ImagePullBackOff',
    )
    await told('missing', 'Failed', its.missingImage)
    await run('never', ['true'], { container: { image, imagePullPolicy: 'Never' } })
    await podWhere(
      'never',
      'to wait',
      ({ status }) => status.containerStatuses?.[0].state.waiting?.reason === 'ErrImageNeverPull',
    )
    await told('never', 'ErrImageNeverPull', `Container image "${image}" is not present with pull policy of Never`)
    await done('missing', 'never')
  })

  it('pulls images that are volumes, and says why they are not mounted', async () => {
    await using registry = await ImageRegistry.start()
    const image = registry.add('team/data:1', await busyboxImage({}, 'data'))
    const mounting = (reference: string, pullPolicy?: string) => ({
      spec: { volumes: [{ name: 'files', image: { reference, pullPolicy } }] },
      container: { volumeMounts: [{ name: 'files', mountPath: '/files', subPath: 'etc' }] },
    })
    await run('mounting', ['sleep', '1000'], mounting(image))
    const waiting = (name: string, reason: string) =>
      podWhere(
        name,
        `to wait: ${reason}`,
        ({ status }) => status.containerStatuses?.[0].state.waiting?.reason === reason,
      )
    const { status } = await waiting('mounting', 'CreateContainerError')
    expect(status.containerStatuses[0].state.waiting.message).toMatch(its.noImageVolumes)
    await told('mounting', 'Pulled', new RegExp(`^Successfully pulled image "${image}" in `))
    expect(registry.pulled).toContain('team/data:1')
    const missing = `${registry.host}/team/none:1`
    await run('mounting-none', ['sleep', '1000'], mounting(missing))
    await waiting('mounting-none', 'ImagePullBackOff')
    await told('mounting-none', 'Failed', its.missingImage)
    await run('mounting-never', ['sleep', '1000'], mounting(missing, 'Never'))
    await waiting('mounting-never', 'ErrImageNeverPull')
    await done('mounting', 'mounting-none', 'mounting-never')
  })

  it('shows a registry the secret that a pod names for it', async () => {
    await using registry = await ImageRegistry.start('me:secret')
    const image = registry.add('private/web:1', await busyboxImage({ Cmd: ['/bin/sleep', '1000'] }, 'private'))
    await run('stranger', [], { container: { image, command: undefined } })
    await told('stranger', 'Failed', its.unauthorized)
    const auths = { [registry.host]: { username: 'me', password: 'secret' } }
    const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') }
    const secret = { metadata: { name: 'pull' }, type: 'kubernetes.io/dockerconfigjson', data }
    await api.object('/api/v1/namespaces/default/secrets', post(secret))
    await run('friend', [], {
      spec: { imagePullSecrets: [{ name: 'pull' }] },
      container: { image, command: undefined },
    })
    await ready('friend')
    await done('stranger', 'friend')
  })

  it('rolls a Deployment over', async () => {
    const template = (text: string) => ({
      metadata: { labels: { app: 'rolled' } },
      spec: {
        ...quick,
        containers: [
          { name: 'main', image: testImage, command: ['sleep', '1000'], env: [{ name: 'TEXT', value: text }] },
        ],
      },
    })
    const deployments = '/apis/apps/v1/namespaces/default/deployments'
    const spec = { replicas: 2, selector: { matchLabels: { app: 'rolled' } }, template: template('one') }
    await api.object(deployments, post({ metadata: { name: 'rolled' }, spec }))
    await program.kubectlOk(['rollout', 'status', 'deployment/rolled', '--timeout=60s'])
    await api.object(`${deployments}/rolled`, patch('merge', { spec: { template: template('two') } }))
    await program.kubectlOk(['rollout', 'status', 'deployment/rolled', '--timeout=60s'])
    await api.object(`${deployments}/rolled`, remove())
    await eventually(
      'its pods to go',
      async () => (await api.object(`${pods}?labelSelector=app%3Drolled`)).items.length === 0,
    )
  })

  it('takes up what runs when the program was killed, and when the runtime was', async () => {
    const before = await ready('terminal')
    await run('counter', ['sh', '-c', 'i=0; while true; do i=$((i+1)); echo $i; sleep 0.05; done'])
    await ready('counter')
    await program.end('SIGKILL')
    api.close()
    await startProgram()
    const after = await ready('terminal')
    expect(after.status.containerStatuses).toEqual(before.status.containerStatuses)
    expect(await exec('terminal', 'echo', 'still here')).toBe('still here\n')
    expect(await exec('fast', 'cat', '/fast/file')).toBe('kept\n')
    const counted = async () => (await log('counter')).trim().split('\n').map(Number)
    const upTo = (await counted()).length
    const numbers = await eventually('it to count on', async () => {
      const found = await counted()
      return found.length > upTo + 5 && found
    })
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    const readyOf = async () => {
      const { status } = await api.object('/api/v1/nodes/node-0')
      return status.conditions.find(({ type }: Any) => type === 'Ready')
    }
    await runtime.kill()
    try {
      await eventually('the node to say so', async () => {
        const { status, reason, message } = await readyOf()
        return status === 'False' && reason === 'KubeletNotReady' && message === 'container runtime is down'
      })
    } finally {
      await runtime.start()
    }
    await eventually('the node to be ready again', async () => (await readyOf()).status === 'True')
    expect((await api.object(`${pods}/terminal`)).status.containerStatuses[0]).toMatchObject({
      containerID: before.status.containerStatuses[0].containerID,
      restartCount: 0,
    })
    await run('afterwards', ['sleep', '1000'])
    await ready('afterwards')
  })

  it('evicts pods, and takes no others on, where its node runs out of memory', async () => {
    await program.end('SIGKILL')
    api.close()
    await startProgram(['--eviction-hard', 'memory.available<99%'])
    await eventually('the node to say so', async () => {
      const { spec, status } = await api.object('/api/v1/nodes/node-0')
      const isTainted = spec.taints?.some(({ key }: Any) => key === 'node.kubernetes.io/memory-pressure')
      const { reason } = status.conditions.find(({ type }: Any) => type === 'MemoryPressure')
      return isTainted && reason === 'KubeletHasInsufficientMemory'
    })
    const evicted = await eventually('a pod to be evicted', async () =>
      (await api.object(pods)).items.find(({ status }: Any) => /was low on resource/.test(status.message)),
    )
    const { phase, reason, message, conditions } = evicted.status
    expect([phase, reason, message]).toEqual([
      'Failed',
      'Evicted',
      expect.stringMatching(
        /^The node was low on resource: memory\. Threshold quantity: \d+(Ki)?, available: \d+Ki\. Container \w+ was using \d+Ki, request is 0, has larger consumption of memory\. $/,
      ),
    ])
    expect(conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', reason: 'TerminationByKubelet', message }),
    )
    await run('late', ['sleep', '1000'], { spec: { nodeName: 'node-0' } })
    expect((await ended('late')).status).toMatchObject({
      reason: 'Evicted',
      message: 'Pod was rejected: The node had condition: [MemoryPressure]. ',
    })
  })

  it('leaves nothing behind of pods that are deleted', async () => {
    await program.kubectlOk(['delete', 'pods', '--all', '--timeout=60s'])
    await eventually('containers to go', async () => (await runtime.containers()).length === 0)
    expect(runtime.mounts()).toEqual([])
    expect(await mountsBelow(home)).toEqual([])
    const files = join(home, 'data', 'kubelet', 'node-0', 'pod-files')
    await eventually(
      'files to go',
      async () => [...(await readdir(join(home, 'logs'))), ...(await readdir(files))].length === 0,
    )
  })
}
