import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Api, patch, post, remove } from './support/api.ts'
import { configMap, controller, paths, pod } from './support/objects.ts'
import { type HostProcess, isRunning, processesWith } from './support/processes.ts'
import { eventually, Program } from './support/program.ts'

const needsLinux = { meta: { needs: 'Linux' } }

// Containers that are real processes of this host, each pod on an address of its own: which is Linux's to give.

const { configMaps, controllers, pods } = paths
const example = join(import.meta.dirname, '..', 'examples', 'frontend-controller.json')

// biome-ignore lint/suspicious/noExplicitAny: an object of any kind
type Any = any

/** What a web server at a pod's address says. Rejects where nothing listens. */
function ask(address: string, port = 8080): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({ host: address, port, path: '/', agent: false, timeout: 2_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => resolve(text))
    })
    request.on('timeout', () => request.destroy(new Error(`${address} does not answer`))).on('error', reject)
  })
}

const isReady = ({ metadata, status }: Any): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.phase === 'Running' &&
  status.containerStatuses?.every(({ ready }: Any) => ready)

const uidOf = ({ metadata }: Any): string => metadata.uid
const containerOf = ({ status }: Any): Any => status?.containerStatuses?.[0]

/** The process of a pod's command: what stands between it and the node agent is left out. */
function commandProcess(podName: string): HostProcess {
  const [found, ...others] = processesWith('POD_NAME', podName).filter(({ command }) => !command[0]?.endsWith('/sh'))
  if (found === undefined || others.length > 0) throw new Error(`${others.length + 1} processes of ${podName}`)
  return found
}

describe.skipIf(process.platform !== 'linux')('the oldest example, on real processes', needsLinux, () => {
  // The containers' home is the program's: it tells them from every other process of the host.
  let home: string
  let program: Program
  let api: Api
  const start = async (args: readonly string[]) => {
    program = await Program.start({ dataDir: join(home, 'data'), args, env: { HOME: home } })
    api = await Api.of(program)
  }
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'coracle-'))
    await start(['-f', example])
  })
  afterAll(async () => {
    api.close()
    await program.end('SIGINT')
    for (const { pid } of processesWith('HOME', home)) process.kill(pid, 'SIGKILL')
    await rm(home, { recursive: true, force: true })
  })

  const frontends = async (): Promise<readonly Any[]> =>
    (await api.object(`${pods}?labelSelector=name%3Dfrontend`)).items
  const twoReady = (what: string, suits: (found: readonly Any[]) => boolean = () => true) =>
    eventually(what, async () => {
      const found = await frontends()
      return found.length === 2 && found.every(isReady) && suits(found) && found
    })
  const answers = (found: Any) =>
    eventually(`${found.metadata.name} to answer`, async () => {
      const text = await ask(found.status.podIP)
      return text === `hello from ${found.metadata.name}\n` && text
    })

  it('runs two pods, which answer on one port, each on its own address', async () => {
    const found = await twoReady('two pods')
    const addresses = found.map(({ status }) => status.podIP)
    for (const address of addresses) expect(address).toMatch(/^127\.\d+\.\d+\.\d+$/)
    expect(new Set([...addresses, '127.0.0.1']).size).toBe(3)
    await Promise.all(found.map(answers))
  })

  it('starts a process again that was killed, in the same pod', async () => {
    const [victim, other] = await twoReady('two pods')
    const { pid } = commandProcess(victim.metadata.name)
    process.kill(pid, 'SIGKILL')
    const restarted = await eventually('a restart', async () => {
      const now = await api.object(`${pods}/${victim.metadata.name}`)
      return containerOf(now)?.restartCount === 1 && isReady(now) && now
    })
    expect(uidOf(restarted)).toBe(uidOf(victim))
    expect(restarted.status.podIP).toBe(victim.status.podIP)
    expect(containerOf(restarted).lastState.terminated).toMatchObject({ exitCode: 137, reason: 'Error' })
    expect(containerOf(restarted).containerID).not.toBe(containerOf(victim).containerID)
    await answers(restarted)
    expect(commandProcess(victim.metadata.name).pid).not.toBe(pid)
    expect(containerOf(await api.object(`${pods}/${other.metadata.name}`)).restartCount).toBe(0)
  })

  it('replaces a pod that is deleted, and ends its process', async () => {
    const [deleted, kept] = await twoReady('two pods')
    const { pid } = commandProcess(deleted.metadata.name)
    await api.object(`${pods}/${deleted.metadata.name}`, remove())
    const found = await twoReady('a replacement', (now) => !now.some((each) => uidOf(each) === uidOf(deleted)))
    expect(found.map(uidOf)).toContain(uidOf(kept))
    await eventually('the process to end', async () => !isRunning(pid))
    await Promise.all(found.map(answers))
  })

  it('lets a pod go that is relabelled, and replaces it', async () => {
    const [freed] = await twoReady('two pods')
    const before = commandProcess(freed.metadata.name)
    await api.object(`${pods}/${freed.metadata.name}`, patch('merge', { metadata: { labels: { name: 'debugged' } } }))
    const found = await twoReady('a replacement', (now) => !now.some((each) => uidOf(each) === uidOf(freed)))
    await Promise.all(found.map(answers))

    const released = await eventually('its owner to let go', async () => {
      const now = await api.object(`${pods}/${freed.metadata.name}`)
      return now.metadata.ownerReferences === undefined && now
    })
    expect([uidOf(released), containerOf(released).restartCount]).toEqual([
      uidOf(freed),
      containerOf(freed).restartCount,
    ])
    expect(isReady(released)).toBe(true)
    expect(commandProcess(freed.metadata.name)).toEqual(before)
    await answers(released)
  })

  /** Has the program end by a signal and start with other arguments: pods run on in between, and are taken up. */
  const goesOn = async (signal: NodeJS.Signals, args: readonly string[]) => {
    const before = (await api.object(pods)).items.filter(isReady)
    expect(before).toHaveLength(3)
    const pids = new Map(before.map((each: Any) => [each.metadata.name, commandProcess(each.metadata.name).pid]))
    api.close()
    await program.end(signal)
    await Promise.all(before.map(answers))

    await start(args)
    // The node agent has taken stock when a change that needs it has come about.
    await api.object(pods, post(pod('afterwards', ['sleep', '600'])))
    await eventually('a new pod', async () => isReady(await api.object(`${pods}/afterwards`)))
    await api.object(`${pods}/afterwards?gracePeriodSeconds=0`, remove())
    for (const old of before) {
      const now = await api.object(`${pods}/${old.metadata.name}`)
      expect(now.status.podIP).toBe(old.status.podIP)
      expect(containerOf(now)).toEqual(containerOf(old))
      expect(commandProcess(old.metadata.name).pid).toBe(pids.get(old.metadata.name))
      await answers(now)
    }
    expect(await frontends()).toHaveLength(2)
  }

  it('goes on while the program is dead, and is taken up as it is', () => goesOn('SIGKILL', ['--keep-pods']))

  it('goes on while a program is away that leaves its pods', () => goesOn('SIGTERM', []))

  it('notices that a process it took up has ended', async () => {
    const [victim] = await twoReady('two pods')
    const { restartCount } = containerOf(victim)
    process.kill(commandProcess(victim.metadata.name).pid, 'SIGKILL')
    await eventually('a restart', async () => {
      const now = await api.object(`${pods}/${victim.metadata.name}`)
      return containerOf(now)?.restartCount === restartCount + 1 && isReady(now)
    })
  })

  it('learns how processes ended while it was dead', async () => {
    await api.object(
      pods,
      post(
        pod('short', ['sh', '-c', 'while [ ! -e "$HOME/end" ]; do sleep 0.05; done; exit 7'], {
          spec: { restartPolicy: 'Never' },
        }),
      ),
    )
    await eventually('it to run', async () => isReady(await api.object(`${pods}/short`)))
    api.close()
    await program.end('SIGKILL')
    await writeFile(join(home, 'end'), '')
    await eventually('it to end', async () =>
      processesWith('HOME', home).every(({ command }) => !command.join(' ').includes('$HOME/end')),
    )
    await start([])
    const ended = await eventually('its end to be told', async () => {
      const now = await api.object(`${pods}/short`)
      return now.status.phase === 'Failed' && now
    })
    expect(containerOf(ended).state.terminated).toMatchObject({ exitCode: 7, reason: 'Error' })
  })

  it('ends with the program on Ctrl-C', async () => {
    const running = processesWith('HOME', home).filter(({ pid }) => pid !== program.pid)
    expect(running.length).toBeGreaterThanOrEqual(3)
    expect(await program.end('SIGINT')).toBe(0)
    expect(running.filter(({ pid }) => isRunning(pid))).toEqual([])
  })

  it('is there again at the next start', async () => {
    await start([])
    const found = await twoReady('two pods')
    await Promise.all(found.map(answers))
  })
})

describe.skipIf(process.platform !== 'linux')('a pod of real processes', { concurrent: true, ...needsLinux }, () => {
  let home: string
  let program: Program
  let api: Api
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'coracle-'))
    const env = { HOME: home, SECRET_OF_THE_HOST: 'nobody should see this' }
    program = await Program.start({ dataDir: join(home, 'data'), args: ['--memory'], env })
    api = await Api.of(program)
  })
  afterAll(async () => {
    api.close()
    await program.end('SIGINT')
    for (const { pid } of processesWith('HOME', home)) process.kill(pid, 'SIGKILL')
    await rm(home, { recursive: true, force: true })
  })

  const create = (object: object) => api.object(pods, post(object))
  const once = (name: string, what: string, holds: (found: Any) => boolean) =>
    eventually(`${name} to ${what}`, async () => {
      const found = await api.object(`${pods}/${name}`)
      return holds(found) && found
    })
  const waitingFor = (reason: string) => (found: Any) => containerOf(found)?.state?.waiting?.reason === reason
  const finished = ({ status }: Any) => status?.phase === 'Succeeded' || status?.phase === 'Failed'
  const log = async (name: string, query = '') => (await api.call(`${pods}/${name}/log${query}`)).text
  const never = { spec: { restartPolicy: 'Never' } }
  const shell = (script: string) => ['sh', '-c', script]
  const podName = { env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }

  it('backs off from a command that keeps failing', async () => {
    await create(pod('crashing', shell('echo run; exit 3')))
    const found = await once('crashing', 'back off', waitingFor('CrashLoopBackOff'))
    const { metadata, status } = found
    expect(containerOf(found)).toMatchObject({
      ready: false,
      lastState: { terminated: { exitCode: 3, reason: 'Error' } },
      state: {
        waiting: {
          message: expect.stringMatching(
            new RegExp(`^back-off \\d+s restarting failed container=main pod=crashing_default\\(${metadata.uid}\\)$`),
          ),
        },
      },
    })
    expect(status.phase).toBe('Running')
    await eventually('an event about it', async () => {
      const { items } = await api.object(
        '/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dcrashing,reason%3DBackOff',
      )
      return items.length > 0 && items[0].type === 'Warning'
    })
  })

  it('says what to do where it has no command', async () => {
    await create(pod('commandless'))
    const found = await once('commandless', 'be refused', waitingFor('CreateContainerError'))
    expect(containerOf(found).state.waiting.message).toMatch(/image.*command|command.*image/)
    expect(found.status.phase).toBe('Pending')
  })

  it('says what is not there where its command is not', async () => {
    await create(pod('misspelt', ['no-such-command'], never))
    const found = await once('misspelt', 'fail', finished)
    expect(containerOf(found).state.terminated).toMatchObject({
      reason: 'StartError',
      exitCode: 128,
      message: expect.stringContaining('exec: "no-such-command": executable file not found in $PATH'),
    })
  })

  it('ends as its restart policy has it', async () => {
    await create(pod('good', ['true'], never))
    await create(pod('bad', shell('exit 5'), never))
    const flaky = shell('if [ -e tried ]; then exit 0; fi; touch tried; exit 1')
    await create(pod('flaky', flaky, { spec: { restartPolicy: 'OnFailure' } }))
    expect((await once('good', 'end', finished)).status.phase).toBe('Succeeded')
    const bad = await once('bad', 'end', finished)
    expect([bad.status.phase, containerOf(bad).state.terminated.exitCode]).toEqual(['Failed', 5])
    const tried = await once('flaky', 'end', finished)
    expect([tried.status.phase, containerOf(tried).restartCount]).toEqual(['Succeeded', 1])
  })

  it('gets its arguments as they are, and a working directory', async () => {
    const words = ['a b', '"quoted"', "it's", '$HOME', '*', '', 'ünïcödé', 'new\nline']
    await create(pod('words', ['printf', '[%s]'], { ...never, container: { args: words, workingDir: '/tmp' } }))
    await create(pod('place', ['pwd'], { ...never, container: { workingDir: '/usr' } }))
    await once('words', 'end', finished)
    await once('place', 'end', finished)
    expect(await log('words')).toBe(words.map((word) => `[${word}]`).join(''))
    expect(await log('place')).toBe('/usr\n')
  })

  it('sees the environment it is given, and nothing of the host’s secrets', async () => {
    await api.object(configMaps, post(configMap('settings', { colour: 'blue', size: 'large' })))
    const secret = { metadata: { name: 'hidden' }, stringData: { password: 'swordfish' } }
    await api.object('/api/v1/namespaces/default/secrets', post(secret))
    const field = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } })
    const env = [
      { name: 'PLAIN', value: 'text' },
      { name: 'COMPOSED', value: '$(PLAIN)/$(UNKNOWN)/$$(PLAIN)' },
      { name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } },
      { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'hidden', key: 'password' } } },
      { name: 'ABSENT', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional: true } } },
      { name: 'NAME', ...field('metadata.name') },
      { name: 'NAMESPACE', ...field('metadata.namespace') },
      { name: 'UID', ...field('metadata.uid') },
      { name: 'LABEL', ...field("metadata.labels['app']") },
      { name: 'NODE', ...field('spec.nodeName') },
      { name: 'IP', ...field('status.podIP') },
      { name: 'HOST_IP', ...field('status.hostIP') },
      { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
    ]
    const container = {
      env,
      envFrom: [{ configMapRef: { name: 'settings' }, prefix: 'from_' }],
      resources: { limits: { cpu: '2' } },
    }
    await create(pod('environment', ['env'], { ...never, labels: { app: 'seen' }, container }))
    const { metadata, spec, status } = await once('environment', 'end', finished)
    const text = await log('environment')
    const seen = Object.fromEntries(text.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)))
    expect(seen).toMatchObject({
      PLAIN: 'text',
      COMPOSED: 'text/$(UNKNOWN)/$(PLAIN)',
      COLOUR: 'blue',
      PASSWORD: 'swordfish',
      NAME: 'environment',
      NAMESPACE: 'default',
      UID: metadata.uid,
      LABEL: 'seen',
      NODE: spec.nodeName,
      IP: status.podIP,
      HOST_IP: status.hostIP,
      CPU: '2',
      from_colour: 'blue',
      from_size: 'large',
    })
    expect(seen).not.toHaveProperty('ABSENT')
    expect(text).not.toContain('nobody should see this')
  })

  it('waits for the configuration it needs, and says for which', async () => {
    const container = { envFrom: [{ configMapRef: { name: 'late' } }] }
    await create(pod('waiting', shell('echo "$late"'), { ...never, container }))
    const found = await once('waiting', 'wait', waitingFor('CreateContainerConfigError'))
    expect(containerOf(found).state.waiting.message).toBe('configmap "late" not found')
    await api.object(configMaps, post(configMap('late', { late: 'but there' })))
    await once('waiting', 'end', finished)
    expect(await log('waiting')).toBe('but there\n')
  })

  it('runs its init containers before its containers, one after another', async () => {
    const step = (name: string) => ({ name, image: 'example', command: shell(`echo ${name} >>${home}/steps`) })
    const spec = { restartPolicy: 'Never', initContainers: [step('one'), step('two')] }
    await create(pod('prepared', shell(`echo main >>${home}/steps`), { spec }))
    expect((await once('prepared', 'end', finished)).status.phase).toBe('Succeeded')
    expect(await readFile(join(home, 'steps'), 'utf8')).toBe('one\ntwo\nmain\n')
  })

  it('has the time of its grace period to end, and not more', async () => {
    const said = join(home, 'said')
    const polite = `trap 'echo goodbye >${said}; exit 0' TERM; echo listens; while :; do sleep 0.05; done`
    const deaf = `trap '' TERM; echo listens; while :; do sleep 0.05; done`
    await create(pod('polite', shell(polite), { spec: { terminationGracePeriodSeconds: 30 }, container: podName }))
    await create(pod('deaf', shell(deaf), { spec: { terminationGracePeriodSeconds: 1 }, container: podName }))
    await Promise.all(['polite', 'deaf'].map((name) => once(name, 'run', isReady)))
    for (const name of ['polite', 'deaf']) await expect.poll(() => log(name)).toBe('listens\n')
    const processes = ['polite', 'deaf'].flatMap((name) => processesWith('POD_NAME', name))
    expect(processes.length).toBeGreaterThanOrEqual(2)

    const begun = performance.now()
    const gone = (name: string) =>
      eventually(`${name} to be gone`, async () => (await api.call(`${pods}/${name}`)).code === 404).then(
        () => performance.now() - begun,
      )
    for (const name of ['polite', 'deaf']) await api.object(`${pods}/${name}`, remove())
    const [politeMs, deafMs] = await Promise.all([gone('polite'), gone('deaf')])
    expect(await readFile(said, 'utf8')).toBe('goodbye\n')
    expect(politeMs).toBeLessThan(30_000)
    expect(deafMs).toBeGreaterThan(950)
    // A pod that says nothing would have so long.
    expect(deafMs).toBeLessThan(30_000)
    expect(processes.filter(({ pid }) => isRunning(pid))).toEqual([])
  })

  it('takes everything it started with it', async () => {
    await create(pod('parent', shell('sleep 600 & sleep 600 & wait'), { container: podName }))
    await once('parent', 'run', isReady)
    const family = await eventually('its children', async () => {
      const found = processesWith('POD_NAME', 'parent')
      return found.filter(({ command }) => command[0] === 'sleep').length === 2 && found
    })
    await api.object(`${pods}/parent?gracePeriodSeconds=1`, remove())
    await eventually('it to be gone', async () => (await api.call(`${pods}/parent`)).code === 404)
    expect(family.filter(({ pid }) => isRunning(pid))).toEqual([])
  })

  it('keeps what it writes', async () => {
    const script =
      'if [ -e again ]; then echo second; exec sleep 600; fi; touch again; echo first; echo problem >&2; exit 1'
    await create(pod('talking', shell(script)))
    await once('talking', 'run again', (found) => containerOf(found)?.restartCount === 1 && isReady(found))
    await eventually('its words', async () => (await log('talking')) === 'second\n')
    expect(await log('talking', '?previous=true')).toBe('first\nproblem\n')
    expect(await log('talking', '?previous=true&tailLines=1')).toBe('problem\n')
    expect(await log('talking', '?timestamps=true')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z second\n$/)
    expect(await api.failure(`${pods}/talking/log?container=other`)).toMatchObject({
      code: 400,
      message: expect.stringContaining('container other is not valid for pod talking'),
    })
  })

  it('is heard while it speaks', async () => {
    const script = `echo 1; while [ ! -e ${home}/go-on ]; do sleep 0.05; done; echo 2; exit 0`
    await create(pod('speaking', shell(script), never))
    await once('speaking', 'run', isReady)
    const following = api.call(`${pods}/speaking/log?follow=true`)
    await writeFile(join(home, 'go-on'), '')
    expect((await following).text).toBe('1\n2\n')
  })

  it('shares a port with others, each on its own address', async () => {
    const script = 'const { IP } = process.env; require("node:http").createServer((_, r) => r.end(IP)).listen(9090, IP)'
    const container = { env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] }
    await api.object(controllers, post(controller('sharing', 4, ['node', '-e', script], { container })))
    const found = await eventually('four pods', async () => {
      const { items } = await api.object(`${pods}?labelSelector=app%3Dsharing`)
      return items.length === 4 && items.every(isReady) && items
    })
    const addresses: string[] = found.map(({ status }: Any) => status.podIP)
    const said = await Promise.all(
      addresses.map((address) => eventually(`${address} to answer`, () => ask(address, 9090))),
    )
    expect(said).toEqual(addresses)
    expect(new Set(addresses).size).toBe(4)
  })
})

const isRoot = process.platform === 'linux' && process.getuid?.() === 0

describe.skipIf(!isRoot)(
  'pods that name their user, where root runs them',
  { meta: { needs: 'root on Linux' } },
  () => {
    let home: string
    let program: Program
    let api: Api
    beforeAll(async () => {
      home = await mkdtemp(join(tmpdir(), 'coracle-'))
      await chmod(home, 0o711)
      program = await Program.start({ dataDir: join(home, 'data') })
      await chmod(join(home, 'data'), 0o711)
      api = await Api.of(program)
    })
    afterAll(async () => {
      api.close()
      await program.end('SIGINT')
      await rm(home, { recursive: true, force: true })
    })

    const ready = (name: string) =>
      eventually(`${name} to be ready`, async () => {
        const found = await api.object(`${pods}/${name}`)
        return isReady(found) && found
      })
    /** What a container that is ready has said may be on its way still. */
    const log = async (name: string) => (await api.call(`${pods}/${name}/log`)).text

    it('run as that, with their volumes, probes and tokens, and read nothing of the cluster', async () => {
      await api.object(configMaps, post(configMap('greeting', { text: 'hello' })))
      const token = { serviceAccountToken: { path: 'token', expirationSeconds: 600 } }
      const spec = {
        securityContext: { runAsUser: 31_337, runAsGroup: 31_338, fsGroup: 31_339 },
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'config', configMap: { name: 'greeting', defaultMode: 0o440 } },
          { name: 'token', projected: { sources: [token] } },
        ],
      }
      const script = [
        'id -u; id -g; id -G; cat config/text; echo; test -s token/token && echo token',
        'echo mine > data/file; stat -c "%u %g" data/file',
        `cat ${home}/data/token ${home}/data/kubeconfig 2>/dev/null || echo closed`,
        'exec sleep 600',
      ].join('; ')
      const container = {
        volumeMounts: ['data', 'config', 'token'].map((name) => ({ name, mountPath: name })),
        readinessProbe: {
          exec: { command: ['sh', '-c', 'test "$(id -u)" = 31337 && test -w data/file'] },
          periodSeconds: 1,
          timeoutSeconds: 30,
        },
      }
      await api.object(pods, post(pod('stranger', ['sh', '-c', script], { spec, container })))
      const { status } = await ready('stranger')
      expect(status.containerStatuses[0].user).toEqual({
        linux: { uid: 31_337, gid: 31_338, supplementalGroups: [31_338, 31_339] },
      })
      await expect
        .poll(async () => (await log('stranger')).split('\n'))
        .toEqual([
          '31337',
          '31338',
          // And that of the pod, by which its volumes are its own.
          expect.stringMatching(/^31338 31339 [2-4]\d{9}$/),
          'hello',
          'token',
          '31337 31339',
          'closed',
          '',
        ])
    })

    it('have volumes that no other pod passes to, not even as the same user', async () => {
      const spec = { securityContext: { runAsUser: 31_340 }, volumes: [{ name: 'data', emptyDir: {} }] }
      const container = { volumeMounts: [{ name: 'data', mountPath: 'data' }] }
      const make = async (name: string, script: string) => {
        const command = ['sh', '-c', `${script}; exec sleep 600`]
        await api.object(pods, post(pod(name, command, { spec, container })))
        return uidOf(await ready(name))
      }
      const one = await make('one', 'echo of one > data/file')
      const volume = join(home, 'data', 'kubelet', 'node-0', 'pods', one, 'data')
      await expect.poll(() => readFile(join(volume, 'file'), 'utf8')).toBe('of one\n')
      await make('other', `echo of other > data/file; cat data/file; cat ${volume}/file 2>/dev/null || echo closed`)
      await expect.poll(() => log('other')).toBe('of other\nclosed\n')
    })

    it('are nobody where they must not be root and name no user', async () => {
      const spec = { securityContext: { runAsNonRoot: true } }
      await api.object(pods, post(pod('nobody', ['sh', '-c', 'id -u; exec sleep 600'], { spec })))
      await ready('nobody')
      await expect.poll(() => log('nobody')).toBe('65534\n')
    })
  },
)
