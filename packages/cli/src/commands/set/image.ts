import type { PodSpec } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { type ChangeFlags, localAndServer } from '../change-objects.ts'
import { refusalOfTargets } from '../connection-refusals.ts'
import { allAndSelector, allContainers, changeTemplates, withContainers } from './pod-templates.ts'

/** `coracle set image TYPE NAME CONTAINER=IMAGE` */
export async function setImage(host: Host, args: readonly string[], flags: ChangeFlags): Promise<void> {
  const { resources, pairs } = splitPairs(args)
  const texts = { done: 'image updated', failure: 'failed to patch image update to pod template:' }
  const check = () => {
    const refusals = [...allAndSelector(flags)]
    if (pairs.length === 0) refusals.push(new CliError('at least one image update is required'))
    if (pairs.length > 1 && pairs.some(([name]) => name === '*')) {
      refusals.push(
        new CliError(
          'all containers are already specified by *, but saw more than one container_name=container_image pairs',
        ),
      )
    }
    refusals.push(...localAndServer(flags))
    if (refusals.length > 0) throw new AggregateError(refusals)
  }
  const change = (spec: PodSpec) => {
    const wanted = new Map(pairs)
    const known = allContainers(spec).map(({ name }) => name)
    for (const [name] of pairs) {
      if (name !== '*' && !known.includes(name))
        throw new CliError(`error: unable to find container named ${JSON.stringify(name)}`)
    }
    return withContainers(spec, (container) => {
      const image = wanted.get(container.name) ?? wanted.get('*')
      return image === undefined ? container : { ...container, image }
    })
  }
  await changeTemplates(host, resources, { ...flags, refusalOfConnection: refusalOfTargets }, texts, change, check)
}

/** Resources first, then `NAME=VALUE`. */
function splitPairs(args: readonly string[]) {
  const first = args.findIndex((arg) => arg.includes('='))
  const resources = first < 0 ? args : args.slice(0, first)
  const rest = first < 0 ? [] : args.slice(first)
  const pairs = rest.map((text) => {
    const at = text.indexOf('=')
    if (at <= 0) throw new CliError(`all resources must be specified before image changes: ${text}`)
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
  return { resources, pairs }
}
