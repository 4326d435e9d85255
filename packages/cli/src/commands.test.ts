import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pods, type ReplicationController, replicationControllers } from '@coracle/api'
import { type Cluster, startCluster } from '@coracle/cluster'
import { virtualEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from './program.ts'
import { type CommandResult, type RecordingOptions, recordingHost, runCommand } from './testing/recording-host.ts'

let directory: string
let cluster: Cluster

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'commands-'))
  cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory' })
  // What is looked at and not changed.
  await coracle('apply -f -', configMap('shown', { a: '2' }))
  await coracle('create -f -', controller('table', 2))
  await untilReady('table', 2)
})

afterAll(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
})

/** Runs a command in the directory of the cluster, whose kubeconfig it finds by itself. */
function coracle(command: string, stdin = ''): Promise<CommandResult> {
  return runCommand(command.split(' '), { workingDirectory: directory, stdin })
}

const configMap = (name: string, data: object) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { set: 'test' } }, data })

const controller = (name: string, replicas: number) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name },
    spec: {
      replicas,
      template: {
        metadata: { labels: { name } },
        spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'web', image: 'nginx' }] },
      },
    },
  })

/** Resolves when a controller has its pods, as its status says. */
async function untilReady(name: string, replicas: number): Promise<void> {
  const watch = await cluster.client.watch<ReplicationController>(replicationControllers, {
    namespace: 'default',
    fieldSelector: `metadata.name=${name}`,
  })
  for await (const event of watch) {
    if (event.type === 'BOOKMARK' || event.type === 'ERROR') continue
    if (event.object.status?.readyReplicas === replicas) return watch.close()
  }
}

describe('create', () => {
  it('creates an object, once', async () => {
    expect(await coracle('create -f -', configMap('made', {}))).toEqual({
      code: 0,
      stdout: 'configmap/made created\n',
      stderr: '',
    })
    expect(await coracle('create -f -', configMap('made', {}))).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error from server (AlreadyExists): error when creating "STDIN": configmaps "made" already exists\n',
    })
  })

  it('refuses fields that do not exist, unless told not to', async () => {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'typo' }, dat: {} })
    expect((await coracle('create -f -', text)).stderr).toContain('unknown field "dat"')
    expect((await coracle('create -f - --validate=ignore', text)).stdout).toBe('configmap/typo created\n')
  })

  it('passes on what the server warns of', async () => {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'warned' }, dat: {} })
    expect(await coracle('create -f - --validate=warn --dry-run=server', text)).toEqual({
      code: 0,
      stdout: 'configmap/warned created (server dry run)\n',
      stderr: 'Warning: unknown field "dat"\n',
    })
  })

  it('notes what it created for a later apply', async () => {
    expect((await coracle('create -f - --save-config', configMap('noted', { a: '1', b: '1' }))).code).toBe(0)
    expect(await coracle('apply -f -', configMap('noted', { a: '2' }))).toMatchObject({ code: 0, stderr: '' })
    expect((await coracle('get cm noted -o jsonpath={.data}')).stdout).toBe('{"a":"2"}')
  })

  it('stores nothing in a dry run', async () => {
    expect((await coracle('create -f - --dry-run=server', configMap('dry', {}))).stdout).toBe(
      'configmap/dry created (server dry run)\n',
    )
    expect((await coracle('get cm dry')).code).toBe(1)
  })

  it('does what it can, and fails in the end', async () => {
    const list = `{"apiVersion":"v1","kind":"List","items":[${configMap('made', {})},${configMap('other', {})}]}`
    const { code, stdout } = await coracle('create -f -', list)
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'configmap/other created\n' })
  })

  it('says which kind the server does not have', async () => {
    const { stderr } = await coracle('create -f -', '{"apiVersion":"music/v1","kind":"Song","metadata":{"name":"x"}}')
    expect(stderr).toContain('no matches for kind "Song" in version "music/v1"')
  })
})

describe('apply', () => {
  it('creates, leaves and changes', async () => {
    const apply = async (data: object) => (await coracle('apply -f -', configMap('applied', data))).stdout
    expect(await apply({ a: '1', b: '1' })).toBe('configmap/applied created\n')
    expect(await apply({ a: '1', b: '1' })).toBe('configmap/applied unchanged\n')
    expect(await apply({ a: '2' })).toBe('configmap/applied configured\n')
    const { stdout } = await coracle('get cm applied -o json')
    expect(JSON.parse(stdout).data).toEqual({ a: '2' })
  })

  it('lets the server merge, and says what to do where others own a field', async () => {
    const apply = (data: object, more = '') => coracle(`apply --server-side${more} -f -`, configMap('merged', data))
    expect((await apply({ a: '1' })).stdout).toBe('configmap/merged serverside-applied\n')
    const refused = await apply({ a: '2' }, ' --field-manager other')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('conflict with "kubectl": .data.a')
    expect(refused.stderr).toContain('with the `--force-conflicts` flag')
    expect((await apply({ a: '2' }, ' --field-manager other --force-conflicts')).code).toBe(0)
    expect((await coracle('get cm merged -o yaml --show-managed-fields')).stdout).toContain('manager: other')
    expect((await coracle('apply --force-conflicts -f -', configMap('merged', {}))).stderr).toContain('--server-side')
  })

  it('warns of an object that was created otherwise', async () => {
    await coracle('create -f -', configMap('created', {}))
    expect((await coracle('apply -f -', configMap('created', {}))).stderr).toMatch(
      /^Warning: resource configmaps\/created is missing the kubectl.kubernetes.io\/last-applied-configuration annotation/,
    )
  })
})

describe('get', () => {
  it('shows the table the server draws', async () => {
    const { stdout } = await coracle('get rc table')
    expect(stdout).toMatch(/^NAME {4}DESIRED {3}CURRENT {3}READY {3}AGE\ntable {3}2 {9}2 {9}2 {7}\d+s\n$/)
  })

  it('sets kinds apart, and takes names of types in any form', async () => {
    const { stdout } = await coracle('get replicationcontroller,po --no-headers')
    expect(stdout).toMatch(/^replicationcontroller\/table .*\npod\/table-/)
  })

  it('shows wide columns, labels and namespaces', async () => {
    const { stdout } = await coracle('get pods -A -o wide --show-labels -L name -l name=table')
    expect(stdout).toMatch(/^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE +IP +NODE .* NAME +LABELS\n/)
    expect(stdout).toMatch(/default +table-\w+ +1\/1 +Running .* table +name=table\n/)
  })

  it('shows names, YAML and lists', async () => {
    expect((await coracle('get cm shown -o name')).stdout).toBe('configmap/shown\n')
    expect((await coracle('get cm/shown -o yaml')).stdout).toMatch(
      /^apiVersion: v1\ndata:\n {2}a: "2"\nkind: ConfigMap\n/,
    )
    expect(JSON.parse((await coracle('get cm -l set=test -o json')).stdout)).toMatchObject({
      kind: 'List',
      apiVersion: 'v1',
    })
  })

  it('shows what it finds, and says what it does not', async () => {
    const { code, stdout, stderr } = await coracle('get cm shown nope --no-headers')
    expect(stdout).toMatch(/^shown /)
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'Error from server (NotFound): configmaps "nope" not found\n' })
  })

  it('says that there is nothing', async () => {
    expect((await coracle('get pods -n kube-public')).stderr).toBe('No resources found in kube-public namespace.\n')
    expect((await coracle('get pods nope --ignore-not-found')).code).toBe(0)
  })

  it('prints what a template or columns ask for', async () => {
    expect((await coracle('get cm shown -o jsonpath={.metadata.name}:{.data.a}')).stdout).toBe('shown:2')
    expect((await coracle('get cm shown -o=jsonpath-as-json={.data}')).stdout).toBe(
      '[\n    {\n        "a": "2"\n    }\n]\n',
    )
    expect((await coracle('get cm,rc -o custom-columns=KIND:.kind,NAME:.metadata.name')).stdout).toMatch(
      /^KIND +NAME\n(ConfigMap +\S+\n)+ReplicationController +table\n$/,
    )
  })

  it('refuses a format it does not have, and a template that is none', async () => {
    expect((await coracle('get cm -o foo')).stderr).toMatch(
      /^error: unable to match a printer .* "foo", allowed formats are: /,
    )
    expect((await coracle('get cm -o jsonpath={.a')).stderr).toBe(
      'error: error parsing jsonpath {.a, unclosed action\n',
    )
    for (const [path, why] of [
      ['{kind}', 'unrecognized identifier kind'],
      ['{.kind}{end}', 'not in range, nothing to end'],
    ]) {
      expect((await coracle(`get sa -n kube-public --field-selector=metadata.name=x -o jsonpath=${path}`)).stderr).toBe(
        `error: error executing jsonpath "${path}": Error executing template: ${why}. Printing more information for debugging the template:
\ttemplate was:
\t\t${path}
\tobject given to jsonpath engine was:
\t\tmap[string]interface {}{"apiVersion":"v1", "items":[]interface {}{}, "kind":"List", "metadata":map[string]interface {}{"resourceVersion":""}}


`,
      )
    }
    expect((await coracle('wait cm/shown --for=jsonpath={.data[?(@.a==x)]}=2')).stderr).toBe(
      'error: unrecognized identifier x\n',
    )
    expect((await coracle('get cm -o jsonpath')).stderr).toBe(
      'error: template format specified but no template given\n',
    )
  })

  it('orders by a field, in tables and in lists', async () => {
    await coracle('create -f -', configMap('order-a', { place: '10' }))
    await coracle('create -f -', configMap('order-b', { place: '9' }))
    const names = 'cm order-a order-b'
    expect((await coracle(`get ${names} --sort-by=.data.place -o name`)).stdout).toBe(
      'configmap/order-b\nconfigmap/order-a\n',
    )
    expect((await coracle('get cm --sort-by=.data.place --no-headers')).stdout).toMatch(/\norder-b .*\norder-a .*\n$/)
    for (const of of ['cm', `${names} -o name`]) {
      expect(await coracle(`get ${of} --sort-by=.data`)).toEqual({
        code: 1,
        stdout: '',
        stderr: 'error: objects cannot be sorted by a field of type object\n',
      })
    }
    expect(await coracle(`get cm --sort-by=.nothing -o name`)).toMatchObject({
      code: 1,
      stderr: 'error: couldn\'t find any field with path "{.nothing}" in the list of objects\n',
    })
    // As with kubectl a table that has no such order is not drawn.
    expect(await coracle('get cm --sort-by=.nothing')).toMatchObject({
      code: 0,
      stderr: 'No resources found in default namespace.\n',
    })
  })

  it('asks for pages of a size, which does not show', async () => {
    const { stdout } = await coracle('get ns -o name')
    expect((await coracle('get ns -o name --chunk-size=1')).stdout).toBe(stdout)
    expect((await coracle('get ns --chunk-size=1 --no-headers')).stdout.split('\n')).toHaveLength(
      stdout.split('\n').length,
    )
  })

  it('shows what a file names, and what stands under a path', async () => {
    expect((await coracle('get -f - -o name', configMap('shown', {}))).stdout).toBe('configmap/shown\n')
    expect((await coracle('get --raw /healthz')).stdout).toBe('ok')
  })

  it('says which selector the server refuses', async () => {
    expect((await coracle('get pods -l a==b==c')).stderr).toBe(
      'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "a==b==c", field selector "": found \'==\', expected: \',\' or \'end of string\'\n',
    )
  })

  it('takes switches that say true or false', async () => {
    expect((await coracle('get cm shown --no-headers=false')).stdout).toMatch(/^NAME/)
    expect((await coracle('get cm nope --ignore-not-found=true')).code).toBe(0)
  })

  it('says which resource the server does not have', async () => {
    expect((await coracle('get podz')).stderr).toBe(
      'error: the server doesn\'t have a resource type "podz"; did you mean "pods"?\n',
    )
  })
})

describe('connections', () => {
  it('takes a server and a token without any kubeconfig', async () => {
    const flags = ['--server', cluster.url ?? '', '--token', cluster.token, '--insecure-skip-tls-verify']
    const { code, stdout } = await runCommand([...flags, 'get', 'ns', 'default', '-o', 'name'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'namespace/default\n' })
  })

  it('says which cluster or user the kubeconfig lacks', async () => {
    expect((await coracle('get ns --cluster nope')).stderr).toBe('error: no server found for cluster "nope"\n')
    expect((await coracle('get ns --user nope')).stderr).toBe('error: auth info "nope" does not exist\n')
  })
})

describe('discovery', () => {
  it('lists types and versions of the API', async () => {
    const { stdout } = await coracle('api-resources')
    expect(stdout).toMatch(/^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND\nbindings +v1 +true +Binding\n/)
    expect(stdout).toMatch(/\nconfigmaps +cm +v1 +true +ConfigMap\n/)
    const names = (await coracle('api-resources --namespaced=false -o name')).stdout.split('\n')
    expect(names).toEqual(expect.arrayContaining(['nodes', 'customresourcedefinitions.apiextensions.k8s.io']))
    expect(names).not.toContain('pods')
    expect((await coracle('api-versions')).stdout).toContain('coordination.k8s.io/v1\n')
  })

  it('tells the versions of both sides', async () => {
    expect((await coracle('version')).stdout).toMatch(
      /^Client Version: v\d.*\nServer Version: v1\.\d+\.\d+\+coracle\n$/,
    )
  })
})

describe('describe', () => {
  it('shows a controller with its pods and what happened', async () => {
    const { stdout } = await coracle('describe rc table')
    expect(stdout).toContain('Replicas:     2 current / 2 desired\n')
    expect(stdout).toContain('Pods Status:  2 Running / 0 Waiting / 0 Succeeded / 0 Failed\n')
    expect(stdout).toMatch(/Normal {2}SuccessfulCreate .* replication-controller {2}Created pod: table-/)
  })

  it('takes the beginning of a name', async () => {
    const { stdout } = await coracle('describe pod table-')
    expect(stdout.match(/^Controlled By: +ReplicationController\/table$/gm)).toHaveLength(2)
  })

  it('shows a node with its pods', async () => {
    const { stdout } = await coracle('describe nodes')
    expect(stdout).toMatch(/\nNon-terminated Pods: +\(2 in total\)\n/)
    expect(stdout).toMatch(/\nLease:\n {2}HolderIdentity: +node-0\n/)
    expect(stdout).toMatch(/\nAllocated resources:\n(.*\n){3} {2}cpu +0 \(0%\) +0 \(0%\)\n/)
  })

  it('shows no secrets', async () => {
    const secret = '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"password":"aHVudGVyMg=="}}'
    await coracle('create -f -', secret)
    const { stdout } = await coracle('describe secret s')
    expect(stdout).toContain('password:  7 bytes')
    expect(stdout).not.toContain('aHVudGVyMg')
  })
})

describe('delete', () => {
  it('deletes what is named and waits until it is gone', async () => {
    await coracle('create -f -', controller('doomed', 1))
    await untilReady('doomed', 1)
    expect(await coracle('delete rc doomed --cascade=foreground')).toEqual({
      code: 0,
      stdout: 'replicationcontroller "doomed" deleted from default namespace\n',
      stderr: '',
    })
    expect((await cluster.client.list(pods, { labelSelector: 'name=doomed' })).items).toEqual([])
  })

  it('leaves dependents where wanted', async () => {
    await coracle('create -f -', controller('parent', 1))
    await untilReady('parent', 1)
    await coracle('delete rc parent --cascade=orphan')
    expect((await coracle('get pods -l name=parent -o name')).stdout).toMatch(/^pod\/parent-/)
    expect((await coracle('delete pods -l name=parent --grace-period=0 --force')).stdout).toMatch(
      /^pod "parent-\w+" force deleted from default namespace\n$/,
    )
  })

  it('deletes the objects of a file', async () => {
    await coracle('create -f -', configMap('filed', {}))
    expect((await coracle('delete -f -', configMap('filed', {}))).stdout).toBe(
      'configmap "filed" deleted from default namespace\n',
    )
  })

  describe('of what is gone before its turn', () => {
    // An event is an object of two API groups: whoever has deleted the one finds the other gone, and no more in a list.
    const types = 'events,events.events.k8s.io'
    const namespace = 'emptied'
    const event = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'twice', namespace, labels: { set: 'twice' } },
      involvedObject: { kind: 'Namespace', name: namespace, namespace },
    })
    const deleted = 'event "twice" deleted from emptied namespace\n'
    beforeAll(() => coracle(`create namespace ${namespace}`))
    beforeEach(async () => expect((await coracle(`-n ${namespace} apply -f -`, event)).code).toBe(0))

    it.each(['--all', '--all --ignore-not-found=false', '-l set=twice', '--field-selector metadata.name=twice'])(
      'says nothing with %s',
      async (how) => {
        expect(await coracle(`-n ${namespace} delete ${types} ${how}`)).toEqual({
          code: 0,
          stdout: deleted,
          stderr: '',
        })
      },
    )

    it.each(['twice', 'twice --ignore-not-found=false'])('fails with %s', async (how) => {
      expect(await coracle(`-n ${namespace} delete ${types} ${how}`)).toEqual({
        code: 1,
        stdout: deleted,
        stderr: 'Error from server (NotFound): events "twice" not found\n',
      })
    })

    it('says nothing of names where it is told to', async () => {
      expect(await coracle(`-n ${namespace} delete --ignore-not-found ${types} twice`)).toEqual({
        code: 0,
        stdout: deleted,
        stderr: '',
      })
    })
  })

  it('wants to be told which', async () => {
    expect((await coracle('delete pods')).stderr).toBe('error: resource(s) were provided, but no name was specified\n')
    expect((await coracle('delete pods nope --ignore-not-found')).code).toBe(0)
  })

  it.each([
    ['pods x --force --grace-period=5', '--force and --grace-period greater than 0 cannot be specified together'],
    ['pods x --now --grace-period=5', '--now and --grace-period cannot be specified together'],
    ['pods --all -l a=b', "setting 'all' parameter but found a non empty selector. "],
    ['pods x --all', 'name cannot be provided when a selector is specified'],
    ['pods x -o yaml', "unexpected -o output mode: yaml. We only support '-o name'"],
    ['pods x --cascade=maybe', 'invalid cascade value (maybe). Must be "background", "foreground", or "orphan"'],
    ['pods x -f -', 'when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well'],
  ])('refuses what contradicts itself: %s', async (args, message) => {
    expect(await coracle(`delete ${args}`)).toEqual({ code: 1, stdout: '', stderr: `error: ${message}\n` })
  })

  it('gives up waiting after a time', async () => {
    const held = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"held","finalizers":["example.test/hold"]}}'
    await coracle('create -f -', held)
    const { code, stderr } = await coracle('delete cm held --timeout 50ms')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: timed out waiting for the condition on configmaps/held\n',
    })
  })
})

describe('get --watch', () => {
  it('shows what there is and then each change, until the process ends', async () => {
    await coracle('create -f -', configMap('seen', {}))
    const lines = new Lines()
    const host = recordingHost({ workingDirectory: directory, onOutput: (text) => lines.show(text) })
    // Nothing but the end of its process ends a watch: it is left behind, and ends with the cluster.
    run(['get', 'cm', 'seen', '-w'], host).catch(() => {})
    expect(await lines.next(2)).toMatch(/^NAME +DATA +AGE\nseen +0 +\d+s\n$/)
    await coracle('apply -f -', configMap('seen', { a: '1' }))
    expect(await lines.next(3)).toMatch(/\nseen +1 +\d+s\n$/)
  })
})

describe('columns of what is followed', () => {
  const labelled = (name: string) =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}","labels":{"row":"yes"}}}`

  it('of get -w are as wide for changes as for what there was', async () => {
    for (const name of ['row', 'row-that-is-wider']) await coracle('create -f -', labelled(name))
    const lines = new Lines()
    const host = recordingHost({ workingDirectory: directory, onOutput: (text) => lines.show(text) })
    run(['get', 'cm', '-l', 'row', '-w', '-o', 'custom-columns=N:.metadata.name,A:.data.a'], host).catch(() => {})
    const before = 'N                   A\nrow                 <none>\nrow-that-is-wider   <none>\n'
    expect(await lines.next(3)).toBe(before)
    await coracle('patch cm row -p {"data":{"a":"1"}}')
    expect(await lines.next(4)).toBe(`${before}row                 1\n`)
  })

  it('of events -w are as wide for later events as for those before', async () => {
    const event = (name: string, reason: string) =>
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'Event', metadata: { name }, type: 'Normal', reason, message: name },
        involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'row', namespace: 'default' },
      })
    await coracle('create -f -', event('first', 'ALongReason'))
    const lines = new Lines()
    const host = recordingHost({ workingDirectory: directory, onOutput: (text) => lines.show(text) })
    run(['events', '--for=configmap/row', '-w', '--no-headers'], host).catch(() => {})
    expect(await lines.next(1)).toMatch(/ {3}Normal {3}ALongReason {3}ConfigMap\/row {3}first\n$/)
    await coracle('create -f -', event('second', 'Short'))
    expect(await lines.next(2)).toMatch(/ {3}Normal {3}Short {9}ConfigMap\/row {3}second\n$/)
  })
})

describe('get --watch --request-timeout', () => {
  it('ends without an error when its time is over', async () => {
    const environment = virtualEnvironment({ seed: 1 })
    const lines = new Lines()
    const host = recordingHost({ workingDirectory: directory, environment, onOutput: (text) => lines.show(text) })
    let code: number | undefined
    void run(['get', 'cm', 'shown', '-w', '--request-timeout=5s'], host).then((end) => {
      code = end
    })
    await lines.next(2)
    // The time of the watch begins when it is asked for, soon after what there is has been shown.
    const endsLater = async () => {
      await environment.clock.advance('5s')
      return code
    }
    await expect.poll(endsLater).toBe(0)
    expect(host.written.stderr).toBe('')
  })
})

describe('get --watch --output-watch-events', () => {
  it.each([
    ['told-0', [], /^EVENT +NAME +DATA +AGE\nADDED +told-0 +0 +\d+s\n$/, /\nMODIFIED +told-0 +1 +\d+s\n$/],
    [
      'told-1',
      ['-o=json'],
      /^\{"type":"ADDED","object":\{"apiVersion":"v1",.*"managedFields":\[.*\}\n$/,
      /\n\{"type":"MODIFIED","object":\{.*\}\n$/,
    ],
    [
      'told-3',
      ['-o=custom-columns=T:.type,N:.object.metadata.name'],
      /^T +N\nADDED +told-3\n$/,
      /\nMODIFIED +told-3\n$/,
    ],
    [
      'told-4',
      ['-o=yaml'],
      /^object:\n[\s\S]*\n {4}managedFields:[\s\S]*\ntype: ADDED\n$/,
      /\n---\nobject:[\s\S]*\ntype: MODIFIED\n$/,
    ],
    ['told-2', ['-o=jsonpath={.type}/{.object.metadata.name}{"\\n"}'], /^ADDED\/told-2\n$/, /\nMODIFIED\/told-2\n$/],
  ])('says of each change what kind it is: %s', async (name, formats, before, after) => {
    await coracle('create -f -', configMap(name, {}))
    const shown = new Output()
    const host = recordingHost({ workingDirectory: directory, onOutput: (text) => shown.show(text) })
    run(['get', 'cm', name, '-w', '--output-watch-events', ...formats], host).catch(() => {})
    await shown.until(before)
    await coracle('apply -f -', configMap(name, { a: '1' }))
    await shown.until(after)
  })
})

describe('get --watch', () => {
  it('shows nothing of a name that is not there where that is no error', async () => {
    const nothing = { code: 0, stdout: '', stderr: '' }
    expect(await coracle('get cm nowhere -w --ignore-not-found')).toMatchObject(nothing)
    expect(await coracle('get cm nowhere -w')).toMatchObject({ code: 1 })
  })

  it('watches the object whose subresource is named', async () => {
    await coracle('create -f -', configMap('named', {}))
    const shown = new Output()
    const host = recordingHost({ workingDirectory: directory, onOutput: (text) => shown.show(text) })
    run(['get', 'cm/named', '-w', '--subresource=status'], host).catch(() => {})
    await shown.until(/\nnamed +0 +\d+s\n$/)
    await coracle('apply -f -', configMap('named', { a: '1' }))
    await shown.until(/\nnamed +1 +\d+s\n$/)
  })
})

/** Waits for output to look like something. */
class Output {
  #text = ''
  #wake = () => {}

  show(text: string): void {
    this.#text = text
    this.#wake()
  }

  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#text)) await new Promise<void>((resolve) => (this.#wake = resolve))
  }
}

/** Waits for output to have a number of lines. */
class Lines {
  #text = ''
  #wake = () => {}

  show(text: string): void {
    this.#text = text
    this.#wake()
  }

  async next(count: number): Promise<string> {
    while (this.#text.split('\n').length <= count) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.#text
  }
}

describe('errors', () => {
  it('says where no cluster is known', async () => {
    const { code, stderr } = await runCommand(['get', 'pods'], { workingDirectory: '/nowhere' })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'error: no cluster is known here: start one with `npx coracle up`, or name a kubeconfig with --kubeconfig\n',
    })
  })

  it('says how to start a cluster that has ended and left its kubeconfig', async () => {
    const gone = join(directory, 'gone')
    const kubeconfig = cluster.kubeconfig ?? ''
    await mkdir(join(gone, '.coracle'), { recursive: true })
    await writeFile(join(gone, '.coracle', 'kubeconfig'), kubeconfig.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'))
    const { stderr } = await runCommand(['get', 'pods'], { workingDirectory: gone })
    expect(stderr).toBe(
      'The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\nStart it with `npx coracle up`.\n',
    )
    const other = await runCommand(['get', 'pods', '-s', 'https://127.0.0.1:1'], { workingDirectory: gone })
    expect(other.stderr).toBe(
      'The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n',
    )
  })

  it('finds the cluster started in a directory above', async () => {
    const below = join(directory, 'deep', 'below')
    await mkdir(below, { recursive: true })
    expect((await runCommand(['get', 'nodes', '-o', 'name'], { workingDirectory: below })).stdout).toBe('node/node-0\n')
  })

  it('tells its version', async () => {
    expect(await coracle('--version')).toEqual({ code: 0, stdout: 'coracle 0.1.0\n', stderr: '' })
  })

  it('suggests commands', async () => {
    expect((await coracle('gett pods')).stderr).toBe(
      'error: unknown command "gett" for "coracle"\n\nDid you mean this?\n\tset\n\tget\n\tagent\n',
    )
  })
})

describe('agent', () => {
  const socket = ['--container-runtime-endpoint', '/nowhere.sock']
  it.each([
    [
      ['--runtime', 'foo'],
      /^error: invalid argument "foo" for "--runtime" flag: .* process, simulated, cri, docker\.\n/,
    ],
    [
      ['--pod-logs-dir', 'logs'],
      /^error: --pod-logs-dir is for containers of a container runtime: give --runtime cri or docker too\n$/,
    ],
    [
      ['--runtime', 'cri', '--image-gc-low-threshold', '90'],
      /^error: --image-gc-low-threshold 90 is to be below --image-gc-high-threshold 85: /,
    ],
    [
      ['--runtime', 'docker', '--images', 'images.yaml'],
      /^error: --images says which programs images stand for, and here they are what they are: leave it out\n$/,
    ],
    // Before anybody is asked to let this machine join.
    [['--runtime', 'cri', ...socket], /^error: no container runtime listens at unix:\/\/\/nowhere\.sock: start it/],
    [['--runtime', 'docker', ...socket], /^error: no container runtime listens at unix:\/\/\/nowhere\.sock: start it/],
  ])('says which flag is wrong: %s', async (args, message) => {
    const join = ['https://127.0.0.1:1', '--token', 'abcdef.0123456789abcdef', '--data-dir', 'machine', '--port', '0']
    const { code, stdout, stderr } = await runCommand(['agent', ...join, ...args], { workingDirectory: directory })
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) })
  })
})

describe('up', () => {
  it('starts a cluster, applies files, tells what happens, and stops when interrupted', async () => {
    const { code, stdout } = await runUp(['--data-dir', 'second', '-f', '-'], controller('told', 1), (host, text) => {
      if (/pod\/told-\w+ +ready\n/.test(text)) host.interrupt()
    })
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^Coracle is ready at https:\/\/127.0.0.1:\d+ after \d+ ms \(KUBECONFIG=second\/kubeconfig\)\n/,
    )
    expect(stdout).toMatch(/replicationcontroller\/told +created from STDIN\n/)
    expect(stdout).toMatch(/pod\/told-\w+ +created by replication-controller: /)
    expect(stdout).toMatch(/pod\/told-\w+ +scheduled to node-/)
    expect(stdout).toMatch(/cluster +stopped after \d+ ms\n$/)
  })

  it('tells of an object that cannot be applied, and goes on', async () => {
    const text = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bad"},"spec":{"containers":[]}}'
    const { stdout } = await runUp(['--data-dir', 'third', '-f', '-'], text, (host, seen) => {
      if (seen.includes('not applied')) host.interrupt()
    })
    expect(stdout).toMatch(
      /pod\/bad +not applied from STDIN: The Pod "bad" is invalid: spec.containers: Required value\n/,
    )
  })

  it('takes files as plain arguments, sums up many pods, and tells a terminal what to do next', async () => {
    await writeFile(join(directory, 'many.json'), controller('many', 30))
    const { code, stdout, stderr } = await runUp(
      ['--data-dir', 'fifth', 'many.json'],
      '',
      (host, text) => {
        if (text.includes('30 of 30 ready')) host.interrupt()
      },
      { isTerminal: true, variables: { NO_COLOR: '1', npm_lifecycle_event: 'start', npm_config_force: 'true' } },
    )
    expect(code).toBe(0)
    expect(stdout).toContain(`    export KUBECONFIG=${join(directory, 'fifth', 'kubeconfig')}\n`)
    // One line, or several where they take their time.
    const created = stdout.matchAll(
      /replicationcontroller\/many +(\d+) pods created by replication-controller: \d+ of 30/g,
    )
    expect([...created].reduce((sum, [, count]) => sum + Number(count), 0)).toBe(30)
    expect(stdout).toMatch(/replicationcontroller\/many +30 of 30 ready\n/)
    expect(stdout).not.toMatch(/ pod\/many-/)
    // What a slow start was at is gone from the terminal.
    expect(stderr.split('\r\u001b[K').at(-1)).toBe(
      'npm has taken -f for a flag of its own; the file is applied all the same (npm start -- -f FILE)\n',
    )
  })

  it('says that npm has kept a flag', async () => {
    const variables = { npm_lifecycle_event: 'start', npm_config_nodes: 'true' }
    const { code, stderr } = await runCommand(['up', '3'], { workingDirectory: directory, variables })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: npm has taken --nodes for a flag of its own: write it after --, as in npm start -- --nodes …\n',
    })
  })

  it('starts a control plane without nodes', async () => {
    const host = recordingHost({
      workingDirectory: directory,
      onOutput(text) {
        if (!text.includes('ready at')) return
        runCommand(['--kubeconfig', 'none/kubeconfig', 'get', 'nodes'], { workingDirectory: directory }).then(
          (seen) => {
            nodes = seen
            host.interrupt()
          },
        )
      },
    })
    let nodes: CommandResult | undefined
    expect(await run(['up', '--memory', '--nodes', '0', '--port', '0', '--data-dir', 'none'], host)).toBe(0)
    expect(nodes).toEqual({ code: 0, stdout: '', stderr: 'No resources found\n' })
  })

  it.each([
    [['--port', '70000'], /^error: invalid argument "70000" for "--port" flag: .* from 0 up to 65535\n/],
    [['--nodes', '-1'], /^error: invalid argument "-1" for "--nodes" flag: .* from 0 /],
    [['--runtime', 'simulated', '--nodes', '20001'], /^error: a cluster has at most 20000 simulated nodes: /],
    [['--nodes', '65'], /^error: one host cannot be 65 nodes.* --nodes, or --runtime simulated\n$/],
    [
      ['--runtime', 'foo'],
      /^error: invalid argument "foo" for "--runtime" flag: .* process, simulated, cri, docker\.\n/,
    ],
    [['--runtime', 'cri', '--nodes', '2'], /^error: one host with a container runtime is one node, not 2: /],
    [
      ['--pod-logs-dir', 'logs'],
      /^error: --pod-logs-dir is for containers of a container runtime: give --runtime cri or docker too\n$/,
    ],
    [
      ['--runtime', 'cri', '--memory', '--data-dir', 'cri', '--container-runtime-endpoint', '/nowhere.sock'],
      /^error: no container runtime listens at unix:\/\/\/nowhere\.sock: start it/,
    ],
    [
      ['--runtime', 'docker', '--memory', '--data-dir', 'docker', '--container-runtime-endpoint', '/nowhere.sock'],
      /^error: no container runtime listens at unix:\/\/\/nowhere\.sock: start it, as with `systemctl start docker`/,
    ],
    [
      ['--runtime', 'cri', '--pod-infra-container-image', 'pause:1'],
      /^error: --pod-infra-container-image is for --runtime docker: /,
    ],
    [
      ['--runtime', 'cri', '--image-gc-low-threshold', '90'],
      /^error: --image-gc-low-threshold 90 is to be below --image-gc-high-threshold 85: /,
    ],
    [['--data-dir', ''], /^error: --data-dir is empty: /],
    [['--data-dir', '/proc/nowhere'], /^error: cannot write to \/proc\/nowhere .*--data-dir\n$/],
    [['-f', ''], /^error: the path "" does not exist\n$/],
  ])('says which flag is wrong: %s', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(['up', '--port', '0', ...args], { workingDirectory: directory })
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) })
    const [, ...below] = stderr.trimEnd().split('\n')
    expect(below.filter((line) => line !== "See 'coracle up --help' for usage.")).toEqual([])
  })

  it('says that the port is in use', async () => {
    const port = new URL(cluster.url ?? '').port
    const { code, stderr } = await coracle(`up --memory --data-dir fourth --runtime simulated --port ${port}`)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`error: port ${port} of 127.0.0.1 is in use by process ${process.pid} (`),
    })
  })

  it('says what is wrong with a file before anything starts', async () => {
    expect((await coracle('up -f nope.yaml')).stderr).toBe('error: the path "nope.yaml" does not exist\n')
  })

  async function runUp(
    args: readonly string[],
    stdin: string,
    onOutput: (host: ReturnType<typeof recordingHost>, stdout: string) => void,
    more: RecordingOptions = {},
  ) {
    const host = recordingHost({
      workingDirectory: directory,
      ...more,
      stdin,
      onOutput: (text) => onOutput(host, text),
    })
    const code = await run(['up', '--memory', '--runtime', 'simulated', '--port', '0', ...args], host)
    return { code, ...host.written }
  }
})
