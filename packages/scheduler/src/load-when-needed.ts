/**
 * Loads what a scheduler loads with the first class or slice of devices: where runs have to be alike, that is done before the first.
 */
export async function loadWhatSchedulersNeedLater(): Promise<void> {
  await Promise.all([import('@coracle/api/devices'), import('./devices/allocator.ts')])
}
