import { keyboard } from './hand';
import { journey } from './journey';
import { Stage } from './stage';
import { staged } from './staged';

const stage = await staged(Stage.open());

journey(keyboard, () => stage);
