import type * as devices from '../../devices/index.ts'

type DeviceSelectors = Pick<typeof devices, 'compileDeviceSelector'>

let loaded: DeviceSelectors | undefined

/** Loads what compiles selectors of devices, which most clusters can do without. */
export async function loadDeviceSelectors(): Promise<void> {
  loaded ??= await import('../../devices/index.ts')
}

/** What compiles selectors of devices, once it is loaded. */
export function deviceSelectors(): DeviceSelectors {
  if (loaded === undefined) throw new Error('selectors are not loaded: await the load of the strategy first')
  return loaded
}
