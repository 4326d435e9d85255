import type { SimulatedBehaviour } from '@coracle/cluster/simulated'

/** Images of the specs whose program waits until it is stopped, unless it is told to do something else. */
const waitingImage = /\/(pause|agnhost):/

/** Scripts of the specs that wait in the end, after something that only real containers do. */
const waitingScript = /&& sleep 1d$/

/** Containers of such an image or script run on, those that are there to end as well. The others go as `otherwise` says. */
export function waitingImages(otherwise: SimulatedBehaviour): SimulatedBehaviour {
  return (container) => {
    const { image, command, args } = container
    const isToldMore = command.length > 0 || (args.length > 0 && args[0] !== 'pause')
    const waits = waitingScript.test([...command, ...args].at(-1) ?? '') || (waitingImage.test(image) && !isToldMore)
    return waits ? {} : otherwise(container)
  }
}
