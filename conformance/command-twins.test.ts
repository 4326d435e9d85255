import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap, manifest } from './support/kubectl.ts'
import { type Outcome, Program } from './support/program.ts'
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
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '2'] })
})
afterAll(() => program[Symbol.asyncDispose]())

/** A command line, or one with what it reads from standard input. Of one that follows something, only the end is compared. */
type Step = string | readonly [string, string] | { readonly follow: string }

/** Words of a command line; quotes keep spaces. */
const words = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')

const workload = (kind: string, name: string, spec: object) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: 'web' } }, template: template('example/web:1'), ...spec },
})

const onNode = (name: string, labels: object, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { nodeName: '{node}', terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'x' }], ...spec },
})

const files = {
  lone: manifest(onNode('lone', { app: 'lone' }, { volumes: [{ name: 'scratch', emptyDir: {} }] })),
  agent: manifest(workload('DaemonSet', 'agent', {})),
  db: manifest(workload('StatefulSet', 'db', { replicas: 2, serviceName: 'db' })),
  service: manifest({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } }),
  cron: manifest({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly' },
    spec: {
      schedule: '0 0 * * *',
      jobTemplate: { spec: { template: { spec: { ...template('example/job:1').spec, restartPolicy: 'Never' } } } },
    },
  }),
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
  'rollout follows, holds, repeats and undoes a Deployment': [
    ['create -f -', files.web],
    { follow: 'rollout status deployment/web' },
    'rollout status deploy web --watch=false',
    'rollout history deployment/web',
    'set image deployment/web web=example/web:2',
    { follow: 'rollout status deployment web --timeout=60s' },
    'annotate deployment web kubernetes.io/change-cause=third',
    'set image deployment/web *=example/web:3',
    { follow: 'rollout status deployment web' },
    'rollout history deployment/web',
    'rollout history deployment/web --revision=2',
    'rollout history deployment/web --revision=3',
    'rollout history deployment/web --revision=9',
    'rollout history deployment/nobody',
    'rollout status deployment/web --revision=1',
    'rollout undo deployment/web --to-revision=9',
    'rollout undo deployment/web --to-revision=3',
    'rollout undo deployment/web --dry-run=client',
    'rollout undo deployment/web --dry-run=server',
    'rollout undo deployment/web',
    { follow: 'rollout status deployment web' },
    'get deployment web -o jsonpath={.spec.template.spec.containers[0].image}{.metadata.annotations}',
    'rollout history deployment/web',
    'rollout pause deployment/web',
    'rollout pause deployment/web',
    'rollout restart deployment/web',
    'rollout undo deployment/web --to-revision=1',
    'rollout resume deployment/web',
    'rollout resume deployment/web',
    'rollout restart deployment/web',
    { follow: 'rollout status deployment web' },
    'rollout undo deployment/web --to-revision=1',
    'rollout pause deployment/nobody',
    'rollout status',
    'rollout status deployment',
    'rollout undo cm/kube-root-ca.crt',
    'rollout status cm/kube-root-ca.crt',
    'rollout history cm/kube-root-ca.crt',
    'rollout pause cm/kube-root-ca.crt',
    'rollout restart cm/kube-root-ca.crt',
  ],
  'rollout of a DaemonSet': [
    ['create -f -', files.agent],
    { follow: 'rollout status ds/agent' },
    'rollout undo ds/agent',
    'set image ds/agent web=example/web:2',
    { follow: 'rollout status ds/agent' },
    'rollout history ds/agent',
    'rollout history ds/agent --revision=1',
    'rollout undo ds/agent --dry-run=client',
    'rollout undo ds/agent',
    { follow: 'rollout status ds/agent' },
    'rollout undo ds/agent --to-revision=3',
    'rollout undo ds/agent --to-revision=8',
    'rollout history ds/agent',
    'rollout restart ds/agent',
    'rollout pause ds/agent',
    { follow: 'rollout status ds/agent' },
  ],
  'rollout of a StatefulSet': [
    ['create -f -', files.db],
    { follow: 'rollout status sts/db' },
    'set image sts/db web=example/web:2',
    { follow: 'rollout status sts/db' },
    'rollout history sts/db',
    'rollout history sts/db --revision=2',
    'rollout undo sts/db',
    { follow: 'rollout status sts/db' },
    'rollout history sts/db',
    'rollout undo sts/db --to-revision=3',
    'rollout resume sts/db',
    'rollout restart sts/db',
  ],
  'set changes what pods are made of': [
    ['create -f -', files.idle],
    ['create -f -', files.cron],
    ['create -f -', files.service],
    'set image deployment/idle nobody=x',
    'set image deployment/idle web=example/web:1',
    'set image deployment/idle',
    'set image deployment/idle web=example/web:2 --dry-run=client',
    'set image deployment/idle web=example/web:2 -o name',
    'set image cronjob/nightly web=example/job:2',
    'set image cm/kube-root-ca.crt web=x',
    'set image deploy --all web=example/web:9',
    'set env deployment/idle A=1 B=2',
    'set env deployment/idle A=1',
    'set env deployment/idle --list',
    'set env deployment/idle A=3 --overwrite=false',
    'set env deployment/idle B-',
    'set env deployment/idle -e C=4',
    'set env deployment/idle --containers=nobody D=1',
    'set env deployment/idle --from=configmap/kube-root-ca.crt --prefix=ROOT_',
    'set env deployment/idle',
    'set env deployment/idle --list',
    'set resources deployment/idle --limits=cpu=200m,memory=512Mi',
    'set resources deployment idle --requests=cpu=100m -c web',
    'set resources deployment idle --requests=cpu=lots',
    'set resources deployment idle --requests=cpu',
    'set resources deployment idle',
    'set resources deployment idle -c nobody --limits=cpu=1',
    'set serviceaccount deployment idle default',
    'set sa deployment/idle robot',
    'set selector service web app=web,tier=front',
    'get deploy idle -o jsonpath={.spec.template.spec}',
    'get service web -o jsonpath={.spec.selector}',
    'get cronjob nightly -o jsonpath={.spec.jobTemplate.spec.template.spec.containers}',
  ],
  'cordon and taint keep pods from nodes': [
    'cordon {node}',
    'cordon {node}',
    'cordon {node} --dry-run=client',
    'uncordon {node} --dry-run=server',
    'uncordon {node}',
    'uncordon {node}',
    'cordon nobody',
    'cordon',
    'cordon -l no=where',
    'taint nodes {node} team=blue:NoSchedule',
    'taint nodes {node} team=blue:NoSchedule',
    'taint nodes {node} team=red:NoSchedule --overwrite',
    'taint node {node} team:NoSchedule-',
    'taint node {node} team-',
    'taint nodes {node} team=blue:Never',
    'taint nodes {node} team',
    'taint nodes {node} a=b=c:NoSchedule',
    'taint nodes {node}',
    'taint nodes {node} a=1:NoSchedule b=2:PreferNoSchedule',
    'taint nodes {node} c=1:NoSchedule b:PreferNoSchedule-',
    'get node {node} -o jsonpath={.spec.taints}',
    'taint nodes {node} a- c-',
    'taint nodes nobody a=1:NoSchedule',
    'taint cm kube-root-ca.crt a=1:NoSchedule',
  ],
  'drain empties nodes, with consent': [
    ['create -f -', files.lone],
    'wait --for=condition=Ready pod -l app=lone --timeout=60s',
    'drain {node} --pod-selector=app=lone',
    'drain {node} --pod-selector=app=lone --force --dry-run=client',
    'drain {node} --pod-selector=app=lone --force --dry-run=server',
    'drain {node} --pod-selector=app=lone --force --delete-emptydir-data',
    'drain {node} --pod-selector=app=lone --force',
    'get node {node} -o jsonpath={.spec.unschedulable}',
    'uncordon {node}',
    'drain nobody',
    'drain',
  ],
  'wait waits for conditions, values, creation and deletion': [
    ['create -f -', files.settings],
    ['create -f -', files.web],
    'wait --for=condition=Available deployment/web --timeout=60s',
    'wait --for=condition=available=true deployment web -o name',
    'wait --for=condition=Available=False deployment/web --timeout=1s',
    'wait --for=create cm/settings',
    'wait --for=create cm/nobody --timeout=1s',
    'wait --for=delete cm/nobody',
    'wait --for=delete cm/settings --timeout=1s',
    'wait --for=jsonpath={.data.a} cm/settings',
    'wait --for=jsonpath={.data.a}=1 cm/settings',
    'wait --for=jsonpath={.data.a}=2 cm/settings --timeout=1s',
    'wait --for=jsonpath={.data} cm/settings --timeout=1s',
    'wait --for=condition=Ready cm/nobody',
    'wait --for=wrong cm/settings',
    'wait --for=condition=Available deployment --all --timeout=60s',
    'wait --for=condition=Available deployment -l app=web',
    'wait --for=condition=Available deployment -l app=none',
    'wait cm/settings',
  ],
}

const lastLine = (text: string): string | undefined => text.trimEnd().split('\n').at(-1)

describe('coracle beside kubectl', () => {
  for (const [index, [name, steps]] of Object.entries(scenarios).entries()) {
    it(name, async () => {
      const twins = await Twins.in(program, `twin-${index}`)
      const ours: unknown[] = []
      const theirs: unknown[] = []
      for (const step of steps) {
        const [line, input] = typeof step === 'string' ? [step, ''] : 'follow' in step ? [step.follow, ''] : step
        const outcome = await twins.run(words(line), input)
        const shown = (each: Outcome) =>
          typeof step === 'object' && 'follow' in step ? { ...each, stdout: lastLine(each.stdout) } : each
        ours.push([line, shown(outcome.ours)])
        theirs.push([line, shown(outcome.theirs)])
      }
      expect(ours).toEqual(theirs)
    })
  }
})
