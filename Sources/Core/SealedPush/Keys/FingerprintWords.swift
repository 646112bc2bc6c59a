/// The 256 words of a ``Fingerprint``: word n stands for the byte n.
///
/// Four to six letters, sorted, all different in their first four letters, and any two at least two letters apart.
/// The list can never change, since both ends must show the same. Source: Specification 12.5.
enum FingerprintWords {
    static let list: [String] = text.split { $0 == " " || $0 == "\n" }.map(String.init)

    private static let text = """
        acorn album almond amber anchor apple artist atlas atom attic autumn azure bakery bamboo banana barrel
        basket blazer bonus bottle bright broom brush burger cabin cactus carpet castle cello chalk chef clover
        cocoa coffee comb cookie cotton cousin crayon cream crisp cube curry daisy dance decade desk dinner
        doctor domino drum duet early echo edge elbow energy engine extra fabric falcon farmer ferret finch
        flag flute frost galaxy garlic gentle gibbon glider goat grape green guitar hiking hinge hobby hornet
        humble icicle ideal igloo image indigo input insect iron island ivory jaguar jazz jigsaw joker juice
        jumbo jungle kayak kiosk kitten kiwi koala label ladder laptop large lava lemon letter lively local
        logic lucky magpie mango marble menu meteor mighty mirror modern moss music nectar needle nephew newt
        nickel ninja noble nutmeg oasis ocelot office olive opera orange orbit orchid outfit owner oxygen oyster
        ozone palace paper parrot pasta pebble pencil pickle pigeon pilot pink pixel pizza planet poem poppy
        proud puzzle quaint quiver rabbit raisin rapid recipe relay reward rhythm robot rocket salad sandal scarf
        school season shadow shovel shrimp signal silver simple skater sketch smooth snow soccer soda sphere spiral
        spoon sprint square statue steady strong studio subway sugar summer sunset swamp swift talent taxi teapot
        tennis thumb tiger tofu tomato topaz towel tripod trophy truck tulip tunnel turtle twin umpire unit
        upbeat urban usual utmost valley vase vault velvet vessel violet vivid volume voyage waffle wagon walrus
        wheat whisk window witty wizard wolf wombat wooden yacht yarn young zebra zenith zesty zigzag zipper
        """
}
