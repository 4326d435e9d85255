import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap, controller, Kubectl, type PodObject, pod, rows } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

let program: Program
/** A namespace with a controller of two pods and three labelled ConfigMaps. */
let kubectl: Kubectl
let podNames: readonly string[]

beforeAll(async () => {
  program = await Program.start({
    args: ['--memory', '--runtime', 'simulated', '--run-time', 'forever', '--nodes', '2'],
  })
  kubectl = await Kubectl.inNewNamespace(program, 'reading')
  await kubectl.create('replicationcontrollers', controller('web', 2))
  await kubectl.create(
    'configmaps',
    configMap('stable', { weight: '9' }, { labels: { tier: 'front', env: 'prod', release: 'stable' } }),
    configMap('canary', { weight: '1' }, { labels: { tier: 'front', env: 'prod' } }),
    configMap('store', { weight: '5' }, { labels: { tier: 'back', env: 'test' } }),
  )
  await kubectl.waitForReplicas('web', 2)
  podNames = (await kubectl.list('pods')).map(({ metadata }) => metadata.name).sort()
})
afterAll(() => program[Symbol.asyncDispose]())

const age = expect.stringMatching(/^\d+[smh]/)
const address = expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/)
const named = async (...args: readonly string[]) => {
  const names = await kubectl.ok(['get', ...args, '-o', 'name'])
  return names.split('\n').filter((line) => line !== '')
}

describe('get', () => {
  it('shows several kinds, each as its own table', async () => {
    const [controllers = '', pods = ''] = (await kubectl.ok(['get', 'rc,pods'])).split('\n\n')
    expect(rows(controllers)).toEqual([
      ['NAME', 'DESIRED', 'CURRENT', 'READY', 'AGE'],
      ['replicationcontroller/web', '2', '2', '2', age],
    ])
    expect(rows(pods)).toEqual([
      ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'],
      ...podNames.map((name) => [`pod/${name}`, '1/1', 'Running', '0', age]),
    ])
  })

  it('shows more columns with -o wide', async () => {
    expect(rows(await kubectl.ok(['get', 'rc', '-o', 'wide']))).toEqual([
      ['NAME', 'DESIRED', 'CURRENT', 'READY', 'AGE', 'CONTAINERS', 'IMAGES', 'SELECTOR'],
      ['web', '2', '2', '2', age, 'web', 'example/web:1', 'app=web'],
    ])
    const node = expect.stringMatching(/^node-[01]$/)
    expect(rows(await kubectl.ok(['get', 'pods', '-o', 'wide']))).toEqual([
      ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'IP', 'NODE', 'NOMINATED NODE', 'READINESS GATES'],
      ...podNames.map((name) => [name, '1/1', 'Running', '0', age, address, node, '<none>', '<none>']),
    ])
    const [header, first] = rows(await kubectl.ok(['get', 'nodes', '-o', 'wide']))
    expect(header).toEqual([
      'NAME',
      'STATUS',
      'ROLES',
      'AGE',
      'VERSION',
      'INTERNAL-IP',
      'EXTERNAL-IP',
      'OS-IMAGE',
      'KERNEL-VERSION',
      'CONTAINER-RUNTIME',
    ])
    const version = expect.stringMatching(/^v1\.\d+\.\d+$/)
    expect(first?.slice(0, 7)).toEqual(['node-0', 'Ready', '<none>', age, version, address, '<none>'])
  })

  it('shows tables of the smaller kinds', async () => {
    expect(rows(await kubectl.ok(['get', 'cm', 'stable']))).toEqual([
      ['NAME', 'DATA', 'AGE'],
      ['stable', '1', age],
    ])
    expect(rows(await kubectl.ok(['get', 'namespace', 'reading']))).toEqual([
      ['NAME', 'STATUS', 'AGE'],
      ['reading', 'Active', age],
    ])
    expect(rows(await kubectl.ok(['get', 'serviceaccount', 'default']))[1]?.[0]).toBe('default')
  })

  it('prints objects as YAML and JSON that say what they are', async () => {
    const yaml = await kubectl.ok(['get', 'cm', 'stable', '-o', 'yaml'])
    expect(yaml).toMatch(
      /^apiVersion: v1\ndata:\n {2}weight: "9"\nkind: ConfigMap\nmetadata:\n {2}creationTimestamp: "/,
    )
    expect(JSON.parse(await kubectl.ok(['get', 'cm', 'stable', '-o', 'json']))).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'stable', namespace: 'reading', uid: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    })
    expect(JSON.parse(await kubectl.ok(['get', 'rc,cm', '-l', 'tier=back', '-o', 'json']))).toMatchObject({
      kind: 'List',
      items: [{ kind: 'ConfigMap', metadata: { name: 'store' } }],
    })
  })

  it('prints names, JSON paths, templates and columns of choice', async () => {
    expect(await named('rc,cm', '-l', 'app=web')).toEqual(['replicationcontroller/web'])
    expect(await kubectl.ok(['get', 'rc', 'web', '-o', 'jsonpath={.metadata.name}:{.status.readyReplicas}'])).toBe(
      'web:2',
    )
    expect(
      await kubectl.ok(['get', 'cm', '-l', 'tier', '-o', 'go-template={{range .items}}{{.data.weight}} {{end}}']),
    ).toBe('1 9 5 ')
    const columns = 'custom-columns=NAME:.metadata.name,WEIGHT:.data.weight,NONE:.data.nothing'
    expect(rows(await kubectl.ok(['get', 'cm', '-l', 'tier', '--sort-by={.data.weight}', '-o', columns]))).toEqual([
      ['NAME', 'WEIGHT', 'NONE'],
      ['canary', '1', '<none>'],
      ['store', '5', '<none>'],
      ['stable', '9', '<none>'],
    ])
  })

  it('sorts a table', async () => {
    const sorted = rows(await kubectl.ok(['get', 'cm', '-l', 'tier', '--sort-by=.data.weight', '--no-headers']))
    expect(sorted.map(([name]) => name)).toEqual(['canary', 'store', 'stable'])
  })

  it('shows labels as columns', async () => {
    expect(rows(await kubectl.ok(['get', 'cm', 'canary', 'store', '-L', 'tier', '--show-labels']))).toEqual([
      ['NAME', 'DATA', 'AGE', 'TIER', 'LABELS'],
      ['canary', '1', age, 'front', 'env=prod,tier=front'],
      ['store', '1', age, 'back', 'env=test,tier=back'],
    ])
  })

  it.each([
    ['tier=front', ['canary', 'stable']],
    ['tier==back', ['store']],
    ['tier,env!=prod', ['store']],
    ['env in (test,gray)', ['store']],
    ['env in (test,prod),tier=front', ['canary', 'stable']],
    ['tier,tier notin (front)', ['store']],
    ['release', ['stable']],
    ['tier,!release', ['canary', 'store']],
    ['tier=none', []],
  ])('selects by the labels %s', async (selector, expected) => {
    expect(await named('configmaps', '-l', selector)).toEqual(expected.map((name) => `configmap/${name}`))
  })

  it('names what is wrong with a selector', async () => {
    const { code, stderr } = await kubectl.run(['get', 'cm', '-l', 'env in ('])
    expect(code).toBe(1)
    expect(stderr).toContain('unable to parse requirement')
  })

  it('selects by fields, where the kind has them', async () => {
    const [first = ''] = podNames
    const { spec } = await kubectl.get<PodObject>('pods', first)
    const onNode = await named('pods', `--field-selector=spec.nodeName=${spec.nodeName},status.phase=Running`)
    expect(onNode).toContain(`pod/${first}`)
    expect(await named('pods', '--field-selector=status.phase!=Running')).toEqual([])
    expect(await named('cm', '--field-selector=metadata.name=store')).toEqual(['configmap/store'])
    const { code, stderr } = await kubectl.run(['get', 'pods', '--field-selector=spec.bogus=1'])
    expect(code).toBe(1)
    expect(stderr).toContain('Error from server (BadRequest): ')
    expect(stderr).toContain('field label not supported: spec.bogus')
  })

  it('shows all namespaces with -A', async () => {
    const table = rows(await program.kubectlOk(['get', 'pods,serviceaccounts', '-A', '-o', 'name']))
    expect(table).toEqual(expect.arrayContaining([[`pod/${podNames[0]}`], ['serviceaccount/default']]))
    const [header, ...all] = rows(await program.kubectlOk(['get', 'rc', '-A']))
    expect(header).toEqual(['NAMESPACE', 'NAME', 'DESIRED', 'CURRENT', 'READY', 'AGE'])
    expect(all).toEqual([['reading', 'web', '2', '2', '2', age]])
  })

  it('says so when there is nothing, and fails for a name that is not there', async () => {
    expect(await kubectl.run(['get', 'secrets'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No resources found in reading namespace.\n',
    })
    expect(await kubectl.run(['get', 'pod', 'nobody'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error from server (NotFound): pods "nobody" not found\n',
    })
    expect((await kubectl.run(['get', 'pod', 'nobody', '--ignore-not-found'])).code).toBe(0)
  })

  it('reads a long list in parts', async () => {
    const chunked = await kubectl.ok(['get', 'cm', '--chunk-size=1', '-o', 'name'])
    expect(chunked).toBe(await kubectl.ok(['get', 'cm', '-o', 'name']))
    // One of them is the namespace's own: the certificate authority of the API server.
    expect(chunked.trim().split('\n')).toHaveLength(4)
  })

  it('gets every kind of the category all', async () => {
    expect(await named('all')).toEqual([...podNames.map((name) => `pod/${name}`), 'replicationcontroller/web'])
  })
})

describe('get --watch', () => {
  it('sees a pod come, start and go', async () => {
    await using watch = await kubectl.start(['get', 'pods', '--watch', '--output-watch-events'])
    const seen = (pattern: RegExp) =>
      eventually(`${pattern} in\n${watch.lines.join('\n')}`, async () => watch.lines.some((line) => pattern.test(line)))
    await seen(new RegExp(`^ADDED +${podNames[1]} `)) // the watch stands
    await kubectl.create('pods', pod('comet'))
    await seen(/^ADDED +comet +0\/1 +Pending/)
    await seen(/^MODIFIED +comet +1\/1 +Running/)
    await kubectl.ok(['delete', 'pod', 'comet'])
    await seen(/^DELETED +comet /)
    const events = watch.lines.filter((line) => line.includes('comet')).map((line) => line.split(' ')[0])
    expect([events.at(0), events.at(-1)]).toEqual(['ADDED', 'DELETED'])
  })

  it('shows one object until it is gone', async () => {
    await kubectl.create('configmaps', configMap('watched', { step: '1' }))
    await using watch = await kubectl.start(['get', 'cm', 'watched', '-w', '-o', 'jsonpath={.data.step}{"\\n"}'])
    await eventually('the first step', async () => watch.lines.includes('1'))
    await kubectl.ok(['patch', 'cm', 'watched', '-p', '{"data":{"step":"2"}}'])
    await eventually('the second step', async () => watch.lines.includes('2'))
    await kubectl.ok(['delete', 'cm', 'watched'])
    await eventually('its end', async () => watch.lines.length === 3)
    expect(watch.lines).toEqual(['1', '2', '2'])
  })
})

describe('events', () => {
  it('tell what happened to whom, and why', async () => {
    const [header, ...events] = rows(await kubectl.ok(['get', 'events']))
    expect(header).toEqual(['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'])
    expect(events).toEqual(
      expect.arrayContaining([
        [age, 'Normal', 'SuccessfulCreate', 'replicationcontroller/web', `Created pod: ${podNames[0]}`],
        [
          age,
          'Normal',
          'Scheduled',
          `pod/${podNames[0]}`,
          expect.stringMatching(new RegExp(`^Successfully assigned reading/${podNames[0]} to node-[01]$`)),
        ],
      ]),
    )
  })

  it('are selected by what they are about', async () => {
    const selector = '--field-selector=involvedObject.kind=ReplicationController,reason=SuccessfulCreate'
    const messages = await kubectl.ok(['get', 'events', selector, '-o', 'jsonpath={.items[*].message}'])
    for (const name of podNames) expect(messages).toContain(`Created pod: ${name}`)
    expect(messages).not.toContain('Successfully assigned')
    const own = await kubectl.ok(['events', '--for=rc/web'])
    expect(own.trim().split('\n')).toHaveLength(3)
  })
})

describe('describe', () => {
  it('tells all about a ReplicationController', async () => {
    const text = await kubectl.ok(['describe', 'rc', 'web'])
    expect(text).toMatch(/^Name: +web\nNamespace: +reading\nSelector: +app=web\nLabels: +app=web\n/)
    expect(text).toMatch(/^Replicas: +2 current \/ 2 desired$/m)
    expect(text).toMatch(/^Pods Status: +2 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed$/m)
    expect(text).toMatch(/^ {4}Image: +example\/web:1$/m)
    for (const name of podNames) {
      expect(text).toMatch(new RegExp(`Normal +SuccessfulCreate +\\S+ +replication-controller +Created pod: ${name}`))
    }
  })

  it('tells all about a pod', async () => {
    const [name = ''] = podNames
    const text = await kubectl.ok(['describe', 'pod', name])
    expect(text).toMatch(new RegExp(`^Name: +${name}\nNamespace: +reading\n`))
    expect(text).toMatch(/^Node: +node-[01]\/\d+\.\d+\.\d+\.\d+$/m)
    expect(text).toMatch(/^Status: +Running$/m)
    expect(text).toMatch(/^Controlled By: +ReplicationController\/web$/m)
    expect(text).toMatch(/^ {4}State: +Running\n {6}Started: +\S.*\n {4}Ready: +True\n {4}Restart Count: +0$/m)
    for (const type of ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']) {
      expect(text).toMatch(new RegExp(`^ {2}${type} +True`, 'm'))
    }
    expect(text).toMatch(/^QoS Class: +BestEffort$/m)
    expect(text).toMatch(/Normal +Scheduled +\S+ +default-scheduler +Successfully assigned/)
  })

  it('tells all about a node', async () => {
    const text = await kubectl.ok(['describe', 'node', 'node-0'])
    expect(text).toMatch(/^Name: +node-0\n/)
    expect(text).toMatch(/kubernetes\.io\/hostname=node-0/)
    expect(text).toMatch(/^Unschedulable: +false$/m)
    expect(text).toMatch(/^ {2}HolderIdentity: +node-0$/m)
    expect(text).toMatch(/^ {2}Ready +True .*KubeletReady/m)
    expect(text).toMatch(/^ {2}pods: +110$/m)
    expect(text).toMatch(/^Non-terminated Pods: +\(\d+ in total\)$/m)
  })

  it('tells about namespaces, ConfigMaps and Secrets, whose values it hides', async () => {
    expect(await kubectl.ok(['describe', 'namespace', 'reading'])).toMatch(
      /^Name: +reading\n(?:.*\n)*Status: +Active\n/,
    )
    expect(await kubectl.ok(['describe', 'cm', 'stable'])).toMatch(/\nData\n====\nweight:\n----\n9\n/)
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'door' }, stringData: { key: 'sesame' } }
    await kubectl.create('secrets', secret)
    const text = await kubectl.ok(['describe', 'secret', 'door'])
    expect(text).toMatch(/^Type: +Opaque$/m)
    expect(text).toMatch(/^key: +6 bytes$/m)
    expect(text).not.toContain('sesame')
    await kubectl.ok(['delete', 'secret', 'door'])
  })
})

describe('wait', () => {
  it('waits for a condition, a field and an object to be there', async () => {
    expect(await kubectl.ok(['wait', '--for=condition=Ready', 'pod', '-l', 'app=web', '--timeout=50s'])).toBe(
      podNames.map((name) => `pod/${name} condition met\n`).join(''),
    )
    expect(await kubectl.ok(['wait', '--for=jsonpath={.status.readyReplicas}=2', 'rc/web', '--timeout=50s'])).toBe(
      'replicationcontroller/web condition met\n',
    )
    expect(await kubectl.ok(['wait', '--for=create', 'configmap/store', '--timeout=50s'])).toContain('condition met')
  })

  it('sees the object that changes and the one that goes while it waits', async () => {
    // One that is not there yet would end the wait at once.
    await kubectl.create('configmaps', configMap('awaited', { done: 'no' }))
    await using changing = await kubectl.start([
      'wait',
      '--for=jsonpath={.data.done}=yes',
      'cm/awaited',
      '--timeout=60s',
    ])
    await using leaving = await kubectl.start(['wait', '--for=delete', 'cm/canary', '--timeout=60s'])
    await kubectl.ok(['patch', 'cm', 'awaited', '-p', '{"data":{"done":"yes"}}'])
    await kubectl.ok(['delete', 'cm', 'canary'])
    expect(await Promise.all([changing.code, leaving.code])).toEqual([0, 0])
    expect(changing.lines).toEqual(['configmap/awaited condition met'])
  })

  it('gives up in the end, with exit code 1', async () => {
    const { code, stderr } = await kubectl.run([
      'wait',
      '--for=jsonpath={.data.done}=never',
      'cm/store',
      '--timeout=1s',
    ])
    expect(code).toBe(1)
    expect(stderr).toContain('error: timed out waiting for the condition on configmaps/store')
  })
})
