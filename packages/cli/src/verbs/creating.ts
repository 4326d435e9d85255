import { type Command, Option } from 'commander'
import { argumentsBeforeDash } from '../arguments.ts'
import type { Creation } from '../commands/create/create-commands.ts'
import type { ExposeCommandFlags } from '../commands/expose.ts'
import type { Host } from '../host.ts'
import {
  collect,
  collectCommas,
  collectLabels,
  detachKeysOption,
  durationText,
  keepEmpty,
  podRunningTimeoutOption,
  switchOption,
  wholeNumber,
} from '../option-values.ts'
import { readsValuesLate } from '../refused-value.ts'
import { withChanges } from './changing.ts'
import {
  dryRunOption,
  imageOption,
  objectFormatsText,
  outcomeFormatOption,
  ownFlags,
  recordOption,
  refuseArguments,
  validateOption,
  windowsLineEndingsText,
  withFiles,
  withManifests,
  withOutcome,
  withPrinting,
} from './shared-options.ts'

/** Adds `create`, from files and from flags, and the other commands that make objects from flags. */
export function addCreatingVerbs(program: Command, host: Host): void {
  const create = addCreate(program, host)
  addWorkloads(create, host)
  addSettings(create, host)
  addToken(create, host)
  addPolicies(create, host)
  addRights(create, host)
  addNetwork(create, host)
  addRun(program, host)
  addExpose(program, host)
  addAutoscale(program, host)
}

function addCreate(program: Command, host: Host): Command {
  return withManifests(readsValuesLate(program.command('create')))
    .addOption(recordOption())
    .enablePositionalOptions()
    .option('--save-config', 'note in the object what was created, for apply')
    .option('--raw <path>', 'post the file to a path of the server')
    .option('--edit', 'open the objects in an editor before they are created')
    .option('--windows-line-endings', `with --edit: ${windowsLineEndingsText}`)
    .allowExcessArguments()
    .summary('create objects from files or flags')
    .description('Creates the objects of files: JSON or YAML, the oldest form (v1beta1) too; or an object from flags.')
    .action(async (_options, command: Command) => {
      refuseArguments(command)
      const { create } = await import('../commands/create/create.ts')
      await create(host, command.optsWithGlobals())
    })
}

/** A command under `create` that makes an object from its flags. */
function creation(parent: Command, host: Host, name: string, creation: Creation, summary: string): Command {
  return withOutcome(readsValuesLate(parent.command(name)))
    .argument('[name]', 'the name of the object')
    .argument('[command...]', 'after --: what the container runs')
    .summary(summary)
    .description(`Creates ${parent.name() === 'create' ? summary : `${parent.summary()} ${summary}`}.`)
    .addOption(dryRunOption())
    .addOption(validateOption())
    .option('--save-config', 'note in the object what was created, for apply')
    .action(async (given: string | undefined, rest: readonly string[], _options, command: Command) => {
      const { createFromFlags } = await import('../commands/create/create-commands.ts')
      const args = given === undefined ? [] : [given, ...rest]
      await createFromFlags(host, creation, { args, beforeDash: argumentsBeforeDash(command) }, ownFlags(command))
    })
}

function addWorkloads(create: Command, host: Host): void {
  creation(create, host, 'deployment', 'deployment', 'a Deployment')
    .alias('deploy')
    .option('--image <image>', 'what its container runs; repeatable', collectCommas, [])
    .option('-r, --replicas <count>', 'how many pods', wholeNumber({ bits: 32 }), 1)
    .option('--port <port>', 'the port its container listens on', wholeNumber({ bits: 32 }))
  creation(create, host, 'job', 'job', 'a Job')
    .addOption(imageOption('what its container runs'))
    .option('--from <cronjob>', 'as this CronJob would make it now: cronjob/NAME')
  creation(create, host, 'cronjob', 'cronjob', 'a CronJob')
    .alias('cj')
    .addOption(imageOption('what its container runs'))
    .addOption(keepEmpty(new Option('--schedule <schedule>', 'when, as in "*/5 * * * *"')))
    .option('--restart <policy>', 'OnFailure or Never', 'OnFailure')
}

function addSettings(create: Command, host: Host): void {
  creation(create, host, 'namespace', 'namespace', 'a Namespace').alias('ns')
  creation(create, host, 'serviceaccount', 'serviceaccount', 'a ServiceAccount').alias('sa')
  withData(creation(create, host, 'configmap', 'configmap', 'a ConfigMap').alias('cm'))
  const secret = create.command('secret').summary('a Secret').description('Creates a Secret.')
  withData(creation(secret, host, 'generic', 'secret generic', 'from files and texts')).option(
    '--type <type>',
    'its type; Opaque unless given',
  )
  creation(secret, host, 'tls', 'secret tls', 'of a certificate and its key')
    .option('--cert <file>', 'file with the certificate (PEM)')
    .option('--key <file>', 'file with its key (PEM)')
    .option('--append-hash', appendHashText)
  creation(secret, host, 'docker-registry', 'secret docker-registry', 'that opens a registry of images')
    .option('--from-file <file>', 'of a file .dockerconfigjson, or KEY=FILE; repeatable', collectCommas, [])
    .option('--docker-server <url>', 'address of the registry', 'https://index.docker.io/v1/')
    .option('--docker-username <name>', 'user there')
    .option('--docker-password <password>', 'the password')
    .option('--docker-email <address>', 'mail address')
    .option('--append-hash', appendHashText)
}

const overridesText = 'change what is created by this patch'
const overrideTypeText = 'what kind of patch that is: merge, strategic or json'

const appendHashText = 'with a hash of the contents after the name'

function addToken(create: Command, host: Host): void {
  withPrinting(create.command('token'))
    .argument('[names...]', 'the service account')
    .summary('a token of a service account')
    .description('Asks for a token of a service account, and prints it. It is kept nowhere.')
    .option('--audience <audience>', 'whom it is for; the API server unless given; repeatable', collect, [])
    .option('--duration <duration>', 'how long it is to live (0s: as the server decides)', durationText, '0s')
    .option('--bound-object-kind <kind>', 'bind it to an object, with which it ends: Node, Pod or Secret')
    .option('--bound-object-name <name>', 'the name of that object')
    .option('--bound-object-uid <uid>', 'its UID, where it must be this very one')
    .addOption(outcomeFormatOption(`the whole answer, as ${objectFormatsText}`))
    .action(async (names: readonly string[], _options, command: Command) => {
      const { createToken } = await import('../commands/create/token.ts')
      await createToken(host, names, ownFlags(command))
    })
}

const withData = (command: Command): Command =>
  command
    .option('--from-literal <pair>', 'KEY=VALUE; repeatable', collect, [])
    .option('--from-file <file>', 'FILE, KEY=FILE or a directory; repeatable', collectCommas, [])
    .option('--from-env-file <file>', 'a file of KEY=VALUE lines; repeatable', collectCommas, [])
    .option('--append-hash', appendHashText)

function addPolicies(create: Command, host: Host): void {
  creation(create, host, 'quota', 'quota', 'a ResourceQuota')
    .alias('resourcequota')
    .option('--hard <amounts>', 'as cpu=1,pods=10')
    .option('--scopes <scopes>', 'only pods of these kinds, as BestEffort,NotTerminating')
  creation(create, host, 'poddisruptionbudget', 'poddisruptionbudget', 'a PodDisruptionBudget')
    .alias('pdb')
    .option('--selector <selector>', 'the pods it protects')
    .option('--min-available <count>', 'how many must stay: a number or a percentage')
    .option('--max-unavailable <count>', 'how many may be missing: a number or a percentage')
  creation(create, host, 'priorityclass', 'priorityclass', 'a PriorityClass')
    .alias('pc')
    .option('--value <number>', 'the priority', wholeNumber({ bits: 32 }), 0)
    .addOption(switchOption('--global-default [boolean]', 'for pods that name no class', false))
    .option('--description <text>', 'when to use it')
    .option('--preemption-policy <policy>', 'PreemptLowerPriority or Never', 'PreemptLowerPriority')
}

function addRights(create: Command, host: Host): void {
  const withRules = (command: Command): Command =>
    command
      .option('--verb <verbs>', 'what may be done, as get,list; repeatable', collectCommas, [])
      .option('--resource <resources>', 'with what, as pods,deployments.apps/scale; repeatable', collectCommas, [])
      .option('--resource-name <name>', 'only with objects of this name; repeatable', collect, [])
  withRules(creation(create, host, 'role', 'role', 'a Role'))
  withRules(creation(create, host, 'clusterrole', 'clusterrole', 'a ClusterRole'))
    .option('--non-resource-url <urls>', 'paths that are no objects, as /metrics; repeatable', collectCommas, [])
    .option('--aggregation-rule <labels>', 'takes the rules of cluster roles with these labels', collectLabels)
  const withSubjects = (command: Command): Command =>
    command
      .addOption(keepEmpty(new Option('--clusterrole <name>', 'the cluster role')))
      .option('--user <name>', 'who gets it; repeatable', collect, [])
      .option('--group <name>', 'a group that gets it; repeatable', collect, [])
      .option('--serviceaccount <name>', 'a service account that gets it, NAMESPACE:NAME; repeatable', collect, [])
  withSubjects(creation(create, host, 'rolebinding', 'rolebinding', 'a RoleBinding')).option(
    '--role <name>',
    'the role',
  )
  withSubjects(creation(create, host, 'clusterrolebinding', 'clusterrolebinding', 'a ClusterRoleBinding'))
}

function addNetwork(create: Command, host: Host): void {
  creation(create, host, 'ingress', 'ingress', 'an Ingress')
    .alias('ing')
    .option('--class <name>', 'which ingress controller it is for')
    .option('--rule <rule>', 'HOST/PATH=SERVICE:PORT[,tls[=SECRET]]; repeatable', collect, [])
    .option('--default-backend <backend>', 'SERVICE:PORT for everything else')
    .option('--annotation <pair>', 'KEY=VALUE; repeatable', collect, [])
  const service = create.command('service').alias('svc').summary('a Service').description('Creates a Service.')
  const withPorts = (command: Command): Command =>
    command.option('--tcp <ports>', 'PORT or PORT:TARGET; repeatable', collectCommas, [])
  withPorts(creation(service, host, 'clusterip', 'service clusterip', 'within the cluster')).option(
    '--clusterip <address>',
    'its address, or None',
  )
  withPorts(creation(service, host, 'nodeport', 'service nodeport', 'on a port of every node')).option(
    '--node-port <port>',
    'that port',
    wholeNumber(),
  )
  withPorts(creation(service, host, 'loadbalancer', 'service loadbalancer', 'behind a load balancer'))
  withPorts(
    creation(service, host, 'externalname', 'service externalname', 'that stands for a name elsewhere'),
  ).addOption(keepEmpty(new Option('--external-name <name>', 'that name')))
}

/** kubectl's flags of a deletion, which its `run` has too: what is run is deleted by --rm alone. */
const deletionOptions = (): readonly Option[] => [
  new Option('-f, --filename <file>', idleText),
  new Option('-k, --kustomize <directory>', idleText),
  new Option('-R, --recursive', idleText),
  new Option('--cascade [mode]', idleText).default('background').preset('background'),
  new Option('--grace-period <seconds>', idleText).argParser(wholeNumber()).default(-1),
  new Option('--timeout <duration>', idleText).argParser(durationText).default('0s'),
  switchOption('--force [boolean]', idleText),
  switchOption('--wait [boolean]', idleText),
]

const idleText = 'accepted, and does nothing'

function addRun(program: Command, host: Host): void {
  const run = withOutcome(readsValuesLate(program.command('run')))
    .addOption(recordOption())
    .argument('[name]', 'the name of the pod')
    .argument('[args...]', 'after --: arguments of the container, or with --command all it runs')
    .summary('run an image in a pod')
    .description('Creates a pod of one container.')
    .addOption(imageOption('what the container runs'))
    .option('--port <port>', 'the port it listens on')
    .option('--env <pair>', 'KEY=VALUE; repeatable', collect, [])
    .option('-l, --labels <pairs>', 'labels of the pod, as app=web,tier=front')
    .option('--annotations <pair>', 'KEY=VALUE; repeatable', collect, [])
    .option('--restart <policy>', 'Always, OnFailure or Never', 'Always')
    .option('--command', 'what follows -- is the command, and not its arguments')
    .option('--image-pull-policy <policy>', 'when the image is pulled: Always, IfNotPresent or Never')
    .option('--privileged', 'with the rights of the node')
    .option('--expose', 'create a Service for --port too')
    .option('-i, --stdin', 'hand on what is typed, and show what the container writes')
    .option('-t, --tty', 'with a terminal')
    .addOption(
      switchOption('--attach [boolean]', 'show what the container writes, until it ends; with -i unless it is false'),
    )
    .option('--rm', 'delete the pod when it has ended; with -i or --attach')
    .option('-q, --quiet', 'only what the container writes')
    .addOption(detachKeysOption())
    .option('--leave-stdin-open', 'the input outlives this command')
    .addOption(podRunningTimeoutOption('1m0s'))
    .addOption(dryRunOption())
    .addOption(validateOption())
    .option('--save-config', 'note in the object what was created, for apply')
    .option('--overrides <json>', overridesText)
    .option('--override-type <type>', overrideTypeText, 'merge')
  for (const option of deletionOptions()) run.addOption(option)
  run.action(async (name: string | undefined, rest: readonly string[], _options, command: Command) => {
    const { runPod } = await import('../commands/run.ts')
    await runPod(host, name === undefined ? [] : [name, ...rest], command.optsWithGlobals())
  })
}

function addExpose(program: Command, host: Host): void {
  withOutcome(withFiles(program.command('expose'), 'expose'))
    .addOption(recordOption())
    .argument('[resources...]', 'TYPE NAME..., TYPE/NAME... or, with --all, TYPE')
    .option('--all', 'all objects of the type')
    .addOption(dryRunOption())
    .option('--selector <selector>', "the pods of the Service; the object's unless given")
    .summary('put a Service in front of what runs')
    .description('Creates a Service for the pods of a Deployment, ReplicaSet, ReplicationController, Service or pod.')
    .option('--port <ports>', 'the port of the Service, or several with commas')
    .option('--target-port <port>', 'number or name of the port of the pods')
    .option('--name <name>', "its name; the object's unless given")
    .option('--type <type>', 'ClusterIP, NodePort, LoadBalancer or ExternalName')
    .option('--protocol <protocol>', 'TCP, UDP or SCTP')
    .option('--cluster-ip <address>', 'its address, or None')
    .option('--external-ip <address>', 'a further address')
    .option('--load-balancer-ip <address>', 'the address of its load balancer')
    .option('--session-affinity <kind>', 'None or ClientIP')
    .option('-l, --labels <pairs>', 'labels of the Service')
    .option('--save-config', 'note in the object what was created, for apply')
    .option('--overrides <json>', overridesText)
    .option('--override-type <type>', overrideTypeText, 'merge')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { expose } = await import('../commands/expose.ts')
      const { selector, ...flags } = command.optsWithGlobals<ExposeCommandFlags & { readonly selector?: string }>()
      await expose(host, resources, { ...flags, ...(selector === undefined ? {} : { selectedBy: selector }) })
    })
}

function addAutoscale(program: Command, host: Host): void {
  withChanges(readsValuesLate(program.command('autoscale')), 'autoscale')
    .addOption(recordOption())
    .summary('let the number of replicas follow the load')
    .description('Creates a HorizontalPodAutoscaler for what has a scale.')
    .option('--min <count>', 'replicas at least', wholeNumber({ bits: 32 }))
    .option('--save-config', 'note in the object what was created, for apply')
    .option('--max <count>', 'replicas at most', wholeNumber({ bits: 32 }))
    .option('--cpu <amount>', 'CPU per pod that is aimed at: 80% of its request, or an amount such as 500m')
    .option('--memory <amount>', 'memory per pod that is aimed at: 80% of its request, or an amount such as 1Gi')
    .addOption(new Option('--cpu-percent <percent>', 'the same as --cpu PERCENT%').argParser(wholeNumber()).hideHelp())
    .option('--name <name>', "its name; the object's unless given")
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { autoscale } = await import('../commands/autoscale.ts')
      await autoscale(host, resources, command.optsWithGlobals())
    })
}
