/** How a service or a replica names its model, its runtime and its accelerator. */
import { about, bool, int64, list, listMap, named, object, oneOf, type StructuralSchema, str } from './schema.js';

const modelKind = about(
  'ClusterBaseModel, or BaseModel for one in the same namespace.',
  str({ default: 'ClusterBaseModel' }),
);
const group = about('API group of the referenced object.', str({ default: 'ome.io' }));

const modelOverlay = named('ModelOverlay', object({ name: str(), kind: modelKind, apiGroup: group }, ['name']));

/** `spec.model` and `spec.modelRef`. */
export const modelRef: StructuralSchema = named(
  'ModelRef',
  object(
    {
      name: about('Name of the model.', str()),
      kind: modelKind,
      apiGroup: group,
      fineTunedWeights: about('Names of FineTunedWeights to load with the model.', list(str())),
      overlays: about('Models attached beside the primary one.', listMap(modelOverlay, ['name'])),
    },
    ['name'],
  ),
);

/** `spec.runtime` and `spec.runtimeRef`. */
export const runtimeRef: StructuralSchema = named(
  'RuntimeRef',
  object(
    {
      name: about('Name of the runtime.', str()),
      kind: about(
        'ClusterServingRuntime, or ServingRuntime for one in the same namespace.',
        str({ default: 'ClusterServingRuntime' }),
      ),
      apiGroup: group,
      autoSync: about(
        'False keeps the stored revision of the runtime instead of following it.',
        bool({ default: true }),
      ),
      revision: about('Stored revision of the runtime to use; ignored while autoSync is true.', str()),
    },
    ['name'],
  ),
);

/** `spec.acceleratorSelector` and a component's `acceleratorOverride`. */
export const acceleratorSelector: StructuralSchema = named(
  'AcceleratorSelector',
  object({
    acceleratorClass: about('AcceleratorClass to use; outranks the constraints.', str()),
    constraints: named(
      'AcceleratorConstraints',
      object({
        minMemory: about('GB of memory at least.', int64()),
        maxMemory: about('GB of memory at most.', int64()),
        minComputePerformanceTFLOPS: about('TFLOPS at least.', int64()),
        minArchitectureVersion: about('Lowest compute capability.', str()),
        requiredFeatures: list(str()),
        excludedClasses: list(str()),
        architectureFamilies: list(str()),
        preferredPrecisions: list(str()),
      }),
    ),
    policy: about('Which of several matches is taken.', oneOf('BestFit', 'Cheapest', 'MostCapable', 'FirstAvailable')),
  }),
);
