import type { PodSpec } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { type ChangeFlags, localAndServer } from '../change-objects.ts'
import { refusalOfTargets } from '../connection-refusals.ts'
import { splitPairs } from '../key-value-pairs.ts'
import { allAndSelector, allContainers, changeTemplates, withContainers } from './pod-templates.ts'

/** `coracle set image TYPE NAME CONTAINER=IMAGE` */
export async function setImage(host: Host, args: readonly string[], flags: ChangeFlags): Promise<void> {
  const { resources, pairs } = splitPairs(args, 'image')
  const images = parseImages(pairs)
  const texts = { done: 'image updated', failure: 'failed to patch image update to pod template:' }
  const check = () => {
    const refusals = [...allAndSelector(flags)]
    if (images.size === 0) refusals.push(new CliError('at least one image update is required'))
    if (images.size > 1 && images.has('*')) {
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
    const known = allContainers(spec).map(({ name }) => name)
    for (const name of images.keys()) {
      if (name !== '*' && !known.includes(name))
        throw new CliError(`error: unable to find container named ${JSON.stringify(name)}`)
    }
    return withContainers(spec, (container) => {
      const image = images.get(container.name) ?? images.get('*')
      return image === undefined ? container : { ...container, image }
    })
  }
  await changeTemplates(host, resources, { ...flags, refusalOfConnection: refusalOfTargets }, texts, change, check)
}

/** Images by the names of containers, of which the last of a name counts. Throws a CliError that names what is of another form. */
function parseImages(pairs: readonly string[]): ReadonlyMap<string, string> {
  const invalid = pairs.filter((text) => text.indexOf('=') <= 0)
  if (invalid.length > 0) throw new CliError(`invalid image format: ${invalid.join(', ')}`)
  return new Map(pairs.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]))
}
