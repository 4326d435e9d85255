import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap, controller, Kubectl, manifest, pod } from './support/kubectl.ts'
import { ManifestFiles } from './support/manifest-files.ts'
import { coracleFile, eventually, Program, run as runProgram } from './support/program.ts'

let program: Program
let files: ManifestFiles
let kubectl: Kubectl

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--run-time', 'forever'] })
  files = await ManifestFiles.create()
  kubectl = await Kubectl.inNewNamespace(program, 'writing')
})
afterAll(async () => {
  await program[Symbol.asyncDispose]()
  await files[Symbol.asyncDispose]()
})

/** Objects in a file. */
const file = (name: string, ...objects: readonly object[]) => files.write(name, ...objects)

const data = async (name: string) => (await kubectl.get('configmaps', name)).data

describe('create', () => {
  it('makes every object of a file, and refuses one that is there', async () => {
    const path = await file('both.yaml', configMap('first', { a: '1' }), controller('second', 0))
    expect(await kubectl.ok(['create', '-f', path])).toBe(
      'configmap/first created\nreplicationcontroller/second created\n',
    )
    const { code, stderr } = await kubectl.run(['create', '-f', await file('one.yaml', configMap('first', {}))])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^Error from server \(AlreadyExists\): error when creating ".*one\.yaml": configmaps "first" already exists\n$/,
    )
  })

  it('reads YAML from standard input', async () => {
    const input = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-stdin\ndata:\n  answer: "42"\n'
    expect(await kubectl.ok(['create', '-f', '-'], { input })).toBe('configmap/from-stdin created\n')
    expect(await data('from-stdin')).toEqual({ answer: '42' })
  })

  it('makes a name where there is but a prefix', async () => {
    const input = manifest({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } })
    expect(await kubectl.ok(['create', '-f', '-'], { input })).toMatch(/^configmap\/made-[a-z0-9]{5} created\n$/)
  })

  it('changes nothing in a dry run', async () => {
    const path = await file('dry.yaml', configMap('dry', {}))
    expect(await kubectl.ok(['create', '-f', path, '--dry-run=server'])).toBe(
      'configmap/dry created (server dry run)\n',
    )
    expect(await kubectl.exists('configmaps', 'dry')).toBe(false)
  })

  it('refuses a field the kind does not have, by name', async () => {
    const input = manifest({ ...controller('typo', 0), spec: { replica: 1 } })
    const { code, stderr } = await kubectl.run(['create', '-f', '-'], { input })
    expect(code).toBe(1)
    expect(stderr).toContain('strict decoding error: unknown field "spec.replica"')
  })

  it('names every invalid field', async () => {
    const input = manifest(pod('Bad_Name', {}, { containers: [{ name: 'main' }], restartPolicy: 'Sometimes' }))
    const { code, stderr } = await kubectl.run(['create', '-f', '-'], { input })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^The Pod "Bad_Name" is invalid: \n/)
    expect(stderr).toContain(
      '* metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of',
    )
    expect(stderr).toContain('* spec.containers[0].image: Required value')
    expect(stderr).toContain('* spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always"')
  })

  it('makes a ConfigMap of literals and files', async () => {
    const path = join(files.directory, 'motd.txt')
    await writeFile(path, 'good morning\n')
    const args = ['create', 'configmap', 'literal', '--from-literal=color=green', `--from-file=${path}`]
    expect(await kubectl.ok(args)).toBe('configmap/literal created\n')
    expect(await data('literal')).toEqual({ color: 'green', 'motd.txt': 'good morning\n' })
  })

  it('makes a Secret, whose values are base64', async () => {
    expect(await kubectl.ok(['create', 'secret', 'generic', 'door', '--from-literal=key=sesame'])).toBe(
      'secret/door created\n',
    )
    expect(await kubectl.get('secrets', 'door')).toMatchObject({ type: 'Opaque', data: { key: 'c2VzYW1l' } })
  })

  it('makes a ServiceAccount and a Namespace', async () => {
    expect(await kubectl.ok(['create', 'serviceaccount', 'robot'])).toBe('serviceaccount/robot created\n')
    expect(await kubectl.exists('serviceaccounts', 'robot')).toBe(true)
    expect(await kubectl.ok(['create', 'namespace', 'another'])).toBe('namespace/another created\n')
    expect(await kubectl.ok(['get', 'namespace', 'another', '-o', 'jsonpath={.status.phase}'])).toBe('Active')
  })
})

describe('apply', () => {
  it('creates, then says what it changed', async () => {
    const path = await file('applied.yaml', configMap('applied', { a: '1', b: '2' }))
    expect(await kubectl.ok(['apply', '-f', path])).toBe('configmap/applied created\n')
    expect(await kubectl.ok(['apply', '-f', path])).toBe('configmap/applied unchanged\n')
    await file('applied.yaml', configMap('applied', { a: '3', b: '2' }))
    expect(await kubectl.ok(['apply', '-f', path])).toBe('configmap/applied configured\n')
    expect(await data('applied')).toEqual({ a: '3', b: '2' })
  })

  it('removes what is gone from the file and keeps what others added', async () => {
    const path = await file('shared.yaml', configMap('shared', { mine: '1', dropped: '2' }))
    await kubectl.ok(['apply', '-f', path])
    await kubectl.ok(['patch', 'configmap', 'shared', '-p', '{"data":{"theirs":"3"}}'])
    await file('shared.yaml', configMap('shared', { mine: '1' }))
    await kubectl.ok(['apply', '-f', path])
    expect(await data('shared')).toEqual({ mine: '1', theirs: '3' })
  })

  it('merges lists by their keys', async () => {
    const path = await file('listed.yaml', controller('listed', 0))
    await kubectl.ok(['apply', '-f', path])
    const sidecar = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example/side"}]}}}}'
    await kubectl.ok(['patch', 'rc/listed', '-p', sidecar])
    await writeFile(path, manifest(controller('listed', 0)).replace('example/web:1', 'example/web:2'))
    expect(await kubectl.ok(['apply', '-f', path])).toBe('replicationcontroller/listed configured\n')
    const images = '{range .spec.template.spec.containers[*]}{.name}={.image} {end}'
    const found = await kubectl.ok(['get', 'rc', 'listed', '-o', `jsonpath=${images}`])
    expect(found.trim().split(' ').sort()).toEqual(['side=example/side', 'web=example/web:2'])
  })

  it('changes nothing in a dry run on the server', async () => {
    const path = await file('rehearsed.yaml', configMap('rehearsed', { a: '1' }))
    expect(await kubectl.ok(['apply', '-f', path, '--dry-run=server'])).toBe(
      'configmap/rehearsed created (server dry run)\n',
    )
    expect(await kubectl.exists('configmaps', 'rehearsed')).toBe(false)
    await kubectl.ok(['apply', '-f', path])
    await file('rehearsed.yaml', configMap('rehearsed', { a: '2' }))
    expect(await kubectl.ok(['apply', '-f', path, '--dry-run=server'])).toBe(
      'configmap/rehearsed configured (server dry run)\n',
    )
    expect(await data('rehearsed')).toEqual({ a: '1' })
  })

  it('is told apart by diff: 0 where nothing would change, 1 with the difference', async () => {
    const path = await file('compared.yaml', configMap('compared', { a: '1' }))
    await kubectl.ok(['apply', '-f', path])
    expect(await kubectl.run(['diff', '-f', path])).toEqual({ code: 0, stdout: '', stderr: '' })
    await file('compared.yaml', configMap('compared', { a: '2' }))
    const { code, stdout } = await kubectl.run(['diff', '-f', path])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^- {2}a: "1"\n\+ {2}a: "2"$/m)
    expect(await data('compared')).toEqual({ a: '1' })
  })

  it('deletes what a file lists', async () => {
    const path = await file('listing.yaml', configMap('listing-1', {}), configMap('listing-2', {}))
    await kubectl.ok(['apply', '-f', path])
    expect(await kubectl.ok(['delete', '-f', path])).toBe(
      'configmap "listing-1" deleted from writing namespace\nconfigmap "listing-2" deleted from writing namespace\n',
    )
    expect(await kubectl.ok(['delete', '-f', path, '--ignore-not-found'])).toBe('')
  })
})

describe('label and annotate', () => {
  it('adds, refuses to overwrite unless told to, and removes', async () => {
    await kubectl.create('configmaps', configMap('labelled', {}))
    const labels = async () => (await kubectl.get('configmaps', 'labelled')).metadata.labels
    expect(await kubectl.ok(['label', 'cm', 'labelled', 'tier=front', 'env=test'])).toBe('configmap/labelled labeled\n')
    const refused = await kubectl.run(['label', 'cm', 'labelled', 'tier=back'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain("'tier' already has a value (front), and --overwrite is false")
    expect(await labels()).toEqual({ tier: 'front', env: 'test' })
    await kubectl.ok(['label', 'cm', 'labelled', 'tier=back', '--overwrite'])
    expect(await kubectl.ok(['label', 'cm', 'labelled', 'env-'])).toBe('configmap/labelled unlabeled\n')
    expect(await labels()).toEqual({ tier: 'back' })
  })

  it('refuses what is no label', async () => {
    await kubectl.create('configmaps', configMap('unlabelled', {}))
    const { code, stderr } = await kubectl.run([
      'patch',
      'cm',
      'unlabelled',
      '-p',
      '{"metadata":{"labels":{"a":"b c"}}}',
    ])
    expect(code).toBe(1)
    expect(stderr).toContain(
      'metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist of',
    )
  })

  it('annotates with any text', async () => {
    await kubectl.create('configmaps', configMap('noted', {}))
    expect(await kubectl.ok(['annotate', 'cm/noted', 'example.com/note=good morning, all'])).toBe(
      'configmap/noted annotated\n',
    )
    const { metadata } = await kubectl.get('configmaps', 'noted')
    expect(metadata.annotations).toEqual({ 'example.com/note': 'good morning, all' })
    const refused = await kubectl.run(['annotate', 'cm/noted', 'example.com/note=good night'])
    expect(refused.stderr).toContain("'example.com/note' already has a value (good morning, all)")
    await kubectl.ok(['annotate', 'cm/noted', 'example.com/note-'])
    expect((await kubectl.get('configmaps', 'noted')).metadata.annotations).toBeUndefined()
  })
})

describe('patch', () => {
  it('takes JSON patches', async () => {
    await kubectl.create('configmaps', configMap('json-patched', { a: '1', b: '2' }))
    const patch = (operations: object[]) =>
      kubectl.run(['patch', 'cm', 'json-patched', '--type=json', '-p', JSON.stringify(operations)])
    const done = await patch([
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'remove', path: '/data/a' },
      { op: 'move', from: '/data/b', path: '/data/c' },
    ])
    expect(done).toMatchObject({ code: 0, stdout: 'configmap/json-patched patched\n' })
    expect(await data('json-patched')).toEqual({ c: '2' })
    const failed = await patch([{ op: 'remove', path: '/data/nowhere' }])
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('The request is invalid')
    expect(await data('json-patched')).toEqual({ c: '2' })
  })

  it('takes merge patches, in which null removes', async () => {
    await kubectl.create('configmaps', configMap('merge-patched', { a: '1', b: '2' }))
    const patch = ['patch', 'cm', 'merge-patched', '--type=merge', '-p', '{"data":{"a":null,"c":"3"}}']
    expect(await kubectl.ok(patch)).toBe('configmap/merge-patched patched\n')
    expect(await data('merge-patched')).toEqual({ b: '2', c: '3' })
    expect(await kubectl.ok(patch)).toBe('configmap/merge-patched patched (no change)\n')
  })

  it('takes strategic merge patches, which match containers by name', async () => {
    await kubectl.create('replicationcontrollers', controller('strategic', 0))
    const patch = async (containers: object[]) => {
      const body = JSON.stringify({ spec: { template: { spec: { containers } } } })
      await kubectl.ok(['patch', 'rc', 'strategic', '-p', body])
      const images = '{range .spec.template.spec.containers[*]}{.name}={.image} {end}'
      const found = await kubectl.ok(['get', 'rc', 'strategic', '-o', `jsonpath=${images}`])
      return found.trim().split(' ').sort()
    }
    expect(await patch([{ name: 'side', image: 'example/side' }])).toEqual(['side=example/side', 'web=example/web:1'])
    expect(await patch([{ name: 'web', image: 'example/web:2' }])).toEqual(['side=example/side', 'web=example/web:2'])
    expect(await patch([{ name: 'side', $patch: 'delete' }])).toEqual(['web=example/web:2'])
  })

  it('never changes a spec through the status, nor a status through the object', async () => {
    await kubectl.create('replicationcontrollers', controller('sided', 0))
    const patch = '{"spec":{"replicas":9},"status":{"replicas":9}}'
    await kubectl.ok(['patch', 'rc', 'sided', '--type=merge', '--subresource=status', '-p', patch])
    expect(await kubectl.ok(['get', 'rc', 'sided', '-o', 'jsonpath={.spec.replicas}'])).toBe('0')
    await kubectl.ok(['patch', 'rc', 'sided', '--type=merge', '-p', '{"status":{"fullyLabeledReplicas":7}}'])
    expect(await kubectl.ok(['get', 'rc', 'sided', '-o', 'jsonpath={.status.fullyLabeledReplicas}'])).toBe('')
  })
})

describe('edit and replace', () => {
  it('writes back what an editor made of the object', async () => {
    await kubectl.create('configmaps', configMap('edited', { color: 'green' }))
    const editor = join(files.directory, 'editor.sh')
    await writeFile(editor, '#!/bin/sh\nsed -i.bak "s/green/blue/" "$1" && rm "$1.bak"\n', { mode: 0o755 })
    expect(await kubectl.ok(['edit', 'cm', 'edited'], { env: { EDITOR: editor } })).toBe('configmap/edited edited\n')
    expect(await data('edited')).toEqual({ color: 'blue' })
    const again = await kubectl.run(['edit', 'cm', 'edited'], { env: { EDITOR: editor } })
    expect(again.stderr).toBe('Edit cancelled, no changes made.\n')
  })

  it('replaces the whole object', async () => {
    await kubectl.create('configmaps', configMap('replaced', { a: '1' }, { labels: { old: 'yes' } }))
    const path = await file('replaced.yaml', configMap('replaced', { b: '2' }))
    expect(await kubectl.ok(['replace', '-f', path])).toBe('configmap/replaced replaced\n')
    const { data: after, metadata } = await kubectl.get('configmaps', 'replaced')
    expect([after, metadata.labels]).toEqual([{ b: '2' }, undefined])
  })

  it('refuses to replace an object that changed in the meantime', async () => {
    await kubectl.create('configmaps', configMap('contended', { a: '1' }))
    const old = await kubectl.get('configmaps', 'contended')
    await kubectl.ok(['label', 'cm', 'contended', 'changed=yes'])
    const { code, stderr } = await kubectl.run(['replace', '-f', '-'], { input: manifest(old) })
    expect(code).toBe(1)
    expect(stderr).toContain(
      'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps ' +
        '"contended": the object has been modified; please apply your changes to the latest version and try again',
    )
    expect((await kubectl.get('configmaps', 'contended')).metadata.labels).toEqual({ changed: 'yes' })
  })

  it('refuses to replace what is not there, unless forced to make it anew', async () => {
    const path = await file('forced.yaml', configMap('forced', { a: '1' }))
    const { code, stderr } = await kubectl.run(['replace', '-f', path])
    expect([code, stderr]).toEqual([1, expect.stringContaining('configmaps "forced" not found')])
    await kubectl.ok(['create', '-f', path])
    const { uid } = (await kubectl.get('configmaps', 'forced')).metadata
    await kubectl.ok(['replace', '--force', '-f', path])
    expect((await kubectl.get('configmaps', 'forced')).metadata.uid).not.toBe(uid)
  })

  it('refuses to change what is immutable', async () => {
    await kubectl.create('configmaps', { ...configMap('frozen', { a: '1' }), immutable: true })
    const { code, stderr } = await kubectl.run(['patch', 'cm', 'frozen', '-p', '{"data":{"a":"2"}}'])
    expect(code).toBe(1)
    expect(stderr).toContain('data: Forbidden: field is immutable when `immutable` is set')
  })
})

describe('set', () => {
  it('changes images and environment of a template', async () => {
    await kubectl.create('replicationcontrollers', controller('set', 0))
    expect(await kubectl.ok(['set', 'image', 'rc/set', 'web=example/web:2'])).toBe(
      'replicationcontroller/set image updated\n',
    )
    await kubectl.ok(['set', 'env', 'rc/set', 'COLOR=green'])
    expect(await kubectl.get('replicationcontrollers', 'set')).toMatchObject({
      metadata: { generation: 3 },
      spec: {
        template: {
          spec: { containers: [{ name: 'web', image: 'example/web:2', env: [{ name: 'COLOR', value: 'green' }] }] },
        },
      },
    })
  })
})

describe('run', () => {
  it('makes a pod of an image, which starts', async () => {
    const args = ['run', 'solo', '--image=example/solo', '--labels=app=solo,tier=one', '--env=COLOR=green', '--port=80']
    expect(await kubectl.ok(args)).toBe('pod/solo created\n')
    expect(await kubectl.ok(['wait', '--for=condition=Ready', 'pod/solo', '--timeout=50s'])).toBe(
      'pod/solo condition met\n',
    )
    const made = await kubectl.get('pods', 'solo')
    expect(made.metadata.labels).toEqual({ app: 'solo', tier: 'one' })
    expect(made).toMatchObject({
      spec: {
        restartPolicy: 'Always',
        containers: [
          {
            name: 'solo',
            image: 'example/solo',
            env: [{ name: 'COLOR', value: 'green' }],
            ports: [{ containerPort: 80, protocol: 'TCP' }],
          },
        ],
      },
    })
  })
})

describe.each(['kubectl', 'coracle'])('patch --subresource resize by %s', (which) => {
  const run = (args: readonly string[]) => (which === 'kubectl' ? kubectl.run(args) : coracle(args))
  const coracle = (args: readonly string[]) =>
    runProgram(process.execPath, [coracleFile, '--kubeconfig', program.kubeconfig, '-n', kubectl.namespace, ...args])
  const name = `resized-by-${which}`
  const patch = (cpu: string) => [
    ...['patch', 'pod', name, '--subresource', 'resize', '-p'],
    JSON.stringify({ spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } }),
  ]
  const shown = async () => {
    const allocated =
      '{.status.containerStatuses[0].allocatedResources.cpu} {.status.conditions[?(@.type=="PodResizePending")].reason}'
    return (await kubectl.ok(['get', 'pod', name, '-o', `jsonpath=${allocated}`])).trim()
  }

  it('gives a running pod other resources, or says why it gets none', async () => {
    const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: '100m', memory: '64Mi' } } }]
    await kubectl.create('pods', pod(name, {}, { containers }))
    await kubectl.ok(['wait', '--for=condition=Ready', `pod/${name}`, '--timeout=50s'])
    expect((await run(patch('200m'))).stdout).toBe(`pod/${name} patched\n`)
    await eventually('the resources', async () => ((await shown()) === '200m' ? true : undefined))
    const refused = await run(patch('1M'))
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(
        "node didn't have enough allocatable resources: cpu, requested: 1000000000, allocatable: ",
      ),
    ])
    expect(await shown()).toBe('200m')
    const { code, stderr } = await run([
      ...patch('1').slice(0, -1),
      '{"spec":{"containers":[{"name":"main","resources":{"requests":{"memory":null}}}]}}',
    ])
    expect([code, stderr]).toEqual([
      1,
      `The Pod "${name}" is invalid: spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed\n`,
    ])
  })
})
