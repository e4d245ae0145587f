import { sweeping } from './testing/sweeping.js';

sweeping(['surge', 'retarget', 'regret', 'bad-image', 'pause', 'delete-in-surge']);
