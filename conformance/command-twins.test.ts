import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap, manifest } from './support/kubectl.ts'
import { Program } from './support/program.ts'
import { Twins } from './support/twins.ts'

// The verbs that kubectl has too, side by side with it: the same words, tables, errors and exit codes, and the same objects afterwards.

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image }] },
})

const deployment = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: 'web' } },
  spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template('example/web:1') },
})

let program: Program
beforeAll(async () => {
  // Nothing runs, so that nothing changes between the two.
  program = await Program.start({ args: ['--memory', '--nodes', '0'] })
})
afterAll(() => program[Symbol.asyncDispose]())

/** A command line, or one with what it reads from standard input. */
type Step = string | readonly [string, string]

/** Words of a command line; quotes keep spaces. */
const words = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')

const files = {
  settings: manifest(configMap('settings', { a: '1' })),
  both: manifest(configMap('settings', { a: '1' }), configMap('others', { b: '2' })),
  changed: manifest(configMap('settings', { a: '2' })),
  web: manifest(deployment('web', 2)),
  idle: manifest(deployment('idle', 0)),
}

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  'label sets, keeps and takes away': [
    ['create -f -', files.both],
    'label configmap settings tier=front env=test',
    'label configmap settings tier=front',
    'label cm settings tier=back',
    'label cm settings tier=back --overwrite',
    'label cm settings env- missing-',
    'label cm/settings cm/others all=yes',
    'label cm --all every=one',
    'label cm -l tier=back picked=yes',
    'label cm settings',
    'label cm',
    'label cm settings a=b=c',
    "label cm settings 'a=b c'",
    'label cm settings a=1 a-',
    'label cm settings a=1 others',
    'label cm nobody a=1',
    'label cm settings dry=run --dry-run=client',
    'label cm settings dry=run --dry-run=server',
    'label cm settings dry=run --dry-run=client -o name',
    "label cm settings '/=1'",
    'label nosuch settings a=1',
    'get cm --show-labels',
  ],
  'annotate sets, keeps and takes away': [
    ['create -f -', files.both],
    "annotate cm settings note='a note'",
    "annotate cm settings note='a note'",
    'annotate cm settings note=other',
    'annotate cm settings note=other --overwrite',
    'annotate cm settings note- missing-',
    'annotate cm settings others a=1',
    'annotate cm settings',
    'annotate cm settings --list',
    'annotate -f nowhere.yaml a=1',
    ['annotate -f - file=yes', files.both],
    'get cm -o jsonpath={.items[*].metadata.annotations}',
  ],
  'scale sets a count, under conditions where asked': [
    ['create -f -', files.web],
    'scale deployment web',
    'scale deployment web --replicas=-1',
    'scale deployment web --replicas=3',
    'scale deployment/web --replicas=4 --current-replicas=2',
    'scale deployment/web --replicas=4 --current-replicas=3',
    'scale deployment/web --replicas=5 --resource-version=1',
    'scale deploy web --replicas=5 --dry-run=client',
    'scale deploy web --replicas=5 --dry-run=server',
    'scale deploy web --replicas=0 -o name',
    'scale deploy nobody --replicas=1',
    'scale cm nobody --replicas=1',
    'scale deploy --all --replicas=0',
    'scale deploy -l app=none --replicas=0',
    'get deploy web -o jsonpath={.spec.replicas}',
  ],
  'patch changes fields': [
    ['create -f -', files.both],
    `patch cm settings -p '{"data":{"b":"2"}}'`,
    `patch cm settings -p '{"data":{"b":"2"}}'`,
    `patch cm settings --type merge -p '{"data":{"a":null}}'`,
    `patch cm settings --type=json -p '[{"op":"add","path":"/data/c","value":"3"}]'`,
    `patch cm settings --type=json -p '[{"op":"remove","path":"/data/nowhere"}]'`,
    `patch cm settings -p 'data: {yaml: "1"}'`,
    `patch cm settings -p '{"data":{"dry":"1"}}' --dry-run=client -o jsonpath={.data}`,
    `patch cm settings -p '{"data":{"dry":"1"}}' --dry-run=server -o jsonpath={.data}`,
    `patch cm settings -p '{"data":{"b":1}}'`,
    `patch cm settings -p '{"metadata":{"name":"other"}}'`,
    'patch cm settings --type=wrong -p {}',
    'patch cm settings',
    'patch cm -p {}',
    'patch cm nobody -p {}',
    'get cm settings -o jsonpath={.data}',
  ],
  'replace puts one object in the place of another': [
    ['replace -f -', files.settings],
    ['create -f -', files.settings],
    ['replace -f -', files.changed],
    ['replace -f - --dry-run=server -o name', files.settings],
    ['replace -f - --force', files.settings],
    ['replace -f - --save-config', files.changed],
    ['replace -f - --timeout=1s', files.changed],
    'get cm settings -o yaml',
  ],
}

describe('coracle beside kubectl', () => {
  for (const [index, [name, steps]] of Object.entries(scenarios).entries()) {
    it(name, async () => {
      const twins = await Twins.in(program, `twin-${index}`)
      const ours: unknown[] = []
      const theirs: unknown[] = []
      for (const step of steps) {
        const [line, input] = typeof step === 'string' ? [step, ''] : step
        const outcome = await twins.run(words(line), input)
        ours.push([line, outcome.ours])
        theirs.push([line, outcome.theirs])
      }
      expect(ours).toEqual(theirs)
    })
  }
})
